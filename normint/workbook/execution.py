"""One notebook, given its parameters by papermill and executed by nbclient, with a kernel of its own."""

import asyncio
import subprocess
import tempfile
from contextlib import suppress

# Only what is installed counts: neither modules that lie beside the notebooks nor a startup file. Nor must
# our cells fill the user's history.
KERNEL = [
    "IPKernelApp.ignore_cwd=True",
    "IPKernelApp.exec_PYTHONSTARTUP=False",
    "HistoryManager.enabled=False",
]


async def execute(source, *, parameters, environment, timeout, on_cell):
    """Execute a notebook; however this ends, its kernel and what that has started end with it.

    Should this process be killed, the kernel finds that its parent is gone, and ends itself.

    Parameters
    ----------
    source : Path
        The notebook. Its kernel starts in its folder.
    parameters : dict
        Values for its parameters cell.
    environment : dict
        Of the kernel.
    timeout : float
        Seconds for the whole notebook.
    on_cell : callable
        Called as each cell begins.

    Returns
    -------
    executed : dict
        The notebook with outputs, up to the cell that failed, with its traceback.
    status, message : str
        "done", "failed" or "timed out", and where and why.
    """
    # Imported here: where nothing has changed, nothing of this is needed.
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    from nbformat.v4.rwbase import split_lines
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    executed = load_notebook_node(str(source))
    if parameters:
        executed = parameterize_notebook(executed, parameters, kernel_name="python3", language="python")
    place = "before the first cell"

    async def run_cells():
        nonlocal place
        number = 0
        await client.async_start_new_kernel(
            cwd=source.parent, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        await client.async_start_new_kernel_client()
        for index, cell in enumerate(executed["cells"]):
            if "injected-parameters" not in cell["metadata"].get("tags", []):  # counted as in the source
                number += 1
                place = f"cell {number} ({first_line(cell['source'])})"
                on_cell()
            await client.async_execute_cell(cell, index)
        client.set_widgets_metadata()

    with tempfile.TemporaryDirectory(prefix="normint-", ignore_cleanup_errors=True) as scratch:
        # The kernel of this environment, not one that the user has installed under the same name.
        kernels = KernelSpecManager(kernel_dirs=[])
        manager = AsyncKernelManager(
            kernel_spec_manager=kernels, connection_file=f"{scratch}/kernel.json", kernel_name="python3"
        )
        options = {"timeout": None, "iopub_timeout": 60, "raise_on_iopub_timeout": True}
        client = NotebookClient(executed, km=manager, **options)
        client.extra_arguments = [*(f"--{setting}" for setting in KERNEL), f"--ipython-dir={scratch}"]
        work = asyncio.ensure_future(run_cells())
        try:
            ended, _ = await asyncio.wait([work], timeout=timeout)
            if not ended:
                return executed, "timed out", f"{place}: not finished after {timeout:g} s"
            work.result()
        except CellExecutionError as error:
            return executed, "failed", f"{place}: {error.ename}: {first_line(error.evalue)}"
        except Exception as error:
            return executed, "failed", f"{place}: {type(error).__name__}: {first_line(str(error))}"
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            _kill(manager)
            if client.kc is not None:
                client.kc.stop_channels()
            await manager.cleanup_resources()
            split_lines(executed)  # as files have them
    return executed, "done", ""


def first_line(text):
    """Return the first line of `text` that is not blank, shortened."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 80 else line[:79] + "…"


def _kill(manager):
    """Kill a kernel, whatever it is doing, and what it has started."""
    import psutil

    pid = getattr(manager.provisioner, "pid", None)
    with suppress(psutil.NoSuchProcess):
        kernel = psutil.Process(pid) if pid else None
        for _ in range(3 if kernel else 0):  # more than once: one may just have been starting another
            family = [*kernel.children(recursive=True), kernel]
            for process in family:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(family, timeout=5)
