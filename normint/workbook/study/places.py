"""Where runs happen: in this process, on the cores of this machine, or on a cluster."""

from contextlib import contextmanager

from normint.extras import extra
from normint.inputs import as_count

DIED = (
    "a worker died, perhaps for want of memory; what was finished is kept, and the same study goes on from "
    "there: try fewer workers"
)

ANSWER = "10s"  # how long a scheduler may take to answer


def carry_out(function, items, *, workers=1, scheduler=None):
    """Yield ``(number, function(item))`` for every item, in the order in which they are done.

    Parameters
    ----------
    function : callable
        Of one argument. It and the items are sent to other processes.
    items : list
    workers : int
        Processes of this machine; with 1, nothing leaves this process.
    scheduler : str or object, optional
        The address of a Dask scheduler, or a cluster of Dask: it decides where, and replaces what dies.
    """
    workers = as_count("workers", workers)
    if scheduler is not None:
        yield from _on_a_cluster(function, items, scheduler)
    elif workers > 1 and len(items) > 1:
        yield from _on_this_machine(function, items, min(workers, len(items)))
    else:
        yield from ((number, function(item)) for number, item in enumerate(items))


def _on_this_machine(function, items, workers):
    with extra("workbook", "workers"):
        from joblib import Parallel, delayed, parallel_config
        from joblib.externals.loky.process_executor import TerminatedWorkerError

    calls = (delayed(_numbered)(function, number, item) for number, item in enumerate(items))
    # One thread each: the others have the other cores.
    with parallel_config("loky", inner_max_num_threads=1):
        try:
            yield from Parallel(workers, return_as="generator_unordered")(calls)
        except TerminatedWorkerError:
            raise RuntimeError(DIED) from None


def _on_a_cluster(function, items, scheduler):
    with extra("cluster", "scheduler"):
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

    with _client(scheduler) as client:
        # Not pure: Dask must not take two calls for one; what was computed before is not among the items.
        futures = client.map(_numbered, [function] * len(items), range(len(items)), items, pure=False)
        try:
            for _, result in as_completed(futures, with_results=True):
                yield result
        except KilledWorker:
            raise RuntimeError(DIED) from None
        finally:
            client.cancel(futures)


@contextmanager
def _client(scheduler):
    from distributed import Client

    try:
        client = Client(scheduler, timeout=ANSWER)
    except (OSError, ValueError) as error:
        raise ValueError(f"scheduler is {scheduler!r}; no Dask scheduler answers there: {error}") from None
    with client:
        yield client


def _numbered(function, number, item):
    return number, function(item)
