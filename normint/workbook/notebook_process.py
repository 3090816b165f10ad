"""One notebook, executed in a process of its own that leaves nothing behind.

Both ends are here: `NotebookProcess` for the runner, and `main` for the process it starts. The process
ends itself and its kernel when the time is up, or when the pipe from the runner closes: the runner
closes it to interrupt, and the system closes it if the runner dies, by whatever signal.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from normint import paths
from normint.files.reading import read_regular
from normint.files.writing import write_atomically
from normint.workbook.results import is_output

# Only what is installed counts: neither modules that lie beside the notebooks nor a startup file.
KERNEL = {"ignore_cwd": True, "exec_PYTHONSTARTUP": False}


class NotebookProcess:
    """Start executing one notebook.

    Parameters
    ----------
    source, target : Path
        The notebook and where its executed copy goes. A failing one goes to ``target.failed.ipynb``
        with the traceback in it.
    parameters : dict
        Values for the notebook's parameters cell.
    timeout : float
        Seconds for the whole notebook.
    environment : dict
        The environment of its kernel.
    """

    def __init__(self, source, target, *, parameters, timeout, environment):
        job = {"source": str(source), "target": str(target), "parameters": parameters, "timeout": timeout}
        self._errors = tempfile.TemporaryFile()
        # A session of its own: Ctrl-C reaches the runner only, which then decides.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            start_new_session=True,
            text=True,
            encoding="utf-8",
            errors="replace",
        )

    def wait(self, on_cell=None):
        """Wait for the end, calling `on_cell` as each cell begins.

        Returns
        -------
        dict
            `status` ("done", "failed", "timed out", or "interrupted"), `message`, and `outputs`: what
            the notebook reported through `normint.workbook.results.log_output`.
        """
        end = None
        for line in self._process.stdout:
            event = _report(line)
            if event.keys() == {"status", "message", "outputs"}:
                end = event
            elif "cell" in event and on_cell:
                on_cell()
        code = self._process.wait()
        self._process.stdout.close()
        self.stop()
        return end or {"status": "failed", "message": self._last_words(code), "outputs": []}

    def stop(self):
        """End the process and its kernel."""
        with suppress(OSError):
            self._process.stdin.close()

    def _last_words(self, code):
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"its process ended with code {code}" + (f": {lines[-1]}" if lines else "")


def _report(line):
    """Return a report of `main`; what others print before it takes over, such as site hooks, is empty."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def main():
    """Execute the notebook described by the first argument and report on standard output."""
    job = json.loads(sys.argv[1])
    # The kernel inherits standard output and may outlive a message: reports get a pipe of their own.
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    scratch = Path(tempfile.mkdtemp(prefix="normint-"))
    log = scratch / "outputs.jsonl"
    # The user's IPython profile must not change the results, nor our cells fill the user's history.
    profile = scratch / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_config.json").write_text(json.dumps({"InteractiveShellApp": KERNEL}))
    paths.report_to(log, scratch)
    place = Place()
    ending = threading.Lock()

    def end(status, message=""):
        ending.acquire()  # the first to come ends the process; the others wait for that
        kill_children()
        outputs, whole = read_log(log)
        if status == "done" and not whole:
            status, message = "failed", "the log of its figures and numbers is damaged"
        shutil.rmtree(scratch, ignore_errors=True)
        with suppress(OSError):
            print(json.dumps({"status": status, "message": message, "outputs": outputs}), file=reports)
        os._exit(0)

    def end_with_runner():
        sys.stdin.buffer.read()
        end("interrupted")

    def end_in_time():
        end("timed out", f"{place}: not finished after {job['timeout']:g} s")

    def on_cell_start(cell, cell_index):
        place.move_to(cell, cell_index)
        print(json.dumps({"cell": place.number}), file=reports)

    for watch in (threading.Thread(target=end_with_runner), threading.Timer(job["timeout"], end_in_time)):
        watch.daemon = True
        watch.start()
    end(*execute(job, scratch / "notebook.ipynb", place, on_cell_start))


def read_log(path):
    """Return the entries of a log that `normint.workbook.results.log_output` wrote, and whether it is whole.

    The last line of a kernel that was killed may be cut off.
    """
    entries = []
    with suppress(FileNotFoundError):
        for line in read_regular(path).decode(errors="replace").splitlines():
            entries.append(_report(line))
    outputs = [entry for entry in entries if is_output(entry)]
    return outputs, len(outputs) == len(entries)


def execute(job, draft, place, on_cell_start):
    """Execute a notebook with papermill, writing to `draft` on the way; return status and message."""
    import papermill
    from papermill.exceptions import PapermillExecutionError

    target = Path(job["target"])
    failed = target.with_suffix(".failed.ipynb")
    status, message = "done", ""
    try:
        papermill.execute_notebook(
            job["source"],
            draft,
            parameters=job["parameters"],
            kernel_name="python3",
            cwd=Path(job["source"]).parent,
            progress_bar=False,
            on_cell_start=on_cell_start,
        )
    except PapermillExecutionError as error:
        place.move_to({"source": error.source}, error.cell_index)
        status, message = "failed", f"{place}: {error.ename}: {first_line(error.evalue)}"
    except Exception as error:
        status, message = "failed", f"{place}: {type(error).__name__}: {first_line(str(error))}"
    try:
        if draft.exists():
            with write_atomically(failed if status == "failed" else target) as temporary:
                shutil.copyfile(draft, temporary)
        if status == "done":
            failed.unlink(missing_ok=True)
    except OSError as error:
        status, message = "failed", message or f"its executed copy cannot be written: {error}"
    return status, message


class Place:
    """Where in the notebook the execution is, counted in the cells of the committed notebook."""

    number, line, injected = 0, "", False

    def move_to(self, cell, index):
        """Go to the cell at `index` of the notebook that papermill executes."""
        self.injected |= "injected-parameters" in cell.get("metadata", {}).get("tags", [])
        self.number, self.line = index + 1 - self.injected, first_line(cell["source"])

    def __str__(self):
        return f"cell {self.number} ({self.line})" if self.number else "before the first cell"


def first_line(text):
    """Return the first line of `text` that is not blank, shortened."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 80 else line[:79] + "…"


def kill_children():
    """Kill the kernel, whatever it is doing, and what it has started."""
    import psutil

    for _ in range(3):  # more than once: one may just have been starting another
        children = psutil.Process().children(recursive=True)
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(children, timeout=5)


if __name__ == "__main__":
    main()
