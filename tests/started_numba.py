"""Processes that begin with numba loaded: starting it takes longer than what a small test compiles."""

import json
import os
import subprocess
import sys

# Its first use loads the compiler. Then each line names a program, which runs in a fork.
SERVER = """
import atexit, json, os, sys, tempfile
import numba
numba.njit(lambda x: x + 1)(1)
sys.dont_write_bytecode = True  # a file that changes twice within a second would be taken for the old one
for line in sys.stdin:
    code, environment, streams = json.loads(line)
    child = os.fork()
    if child == 0:
        break
    os.waitpid(child, 0)
    print("done", flush=True)
else:
    sys.exit()
os.environ.clear()
os.environ.update(environment)
numba.core.config.reload_config()
tempfile.tempdir = None
sys.path.insert(0, environment["PYTHONPATH"])
for number, path in enumerate(streams, start=1):
    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOCTTY), number)
try:
    exec(code, {"__name__": "__main__"})
except SystemExit:
    pass
except BaseException:
    sys.excepthook(*sys.exc_info())
atexit._run_exitfuncs()
sys.stdout.flush()
os._exit(0)  # an end without taking numba apart
"""


class Numba:
    """A process that runs programs like ``python -P -c``, one at a time; numba they need not load."""

    def __init__(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._server = subprocess.Popen([sys.executable, "-P", "-c", SERVER], env=environment, **pipes)

    def run(self, code, environment, stdout, stderr):
        """Run a program until it ends; the streams are paths of files, or of terminals."""
        job = json.dumps([code, environment, [str(stdout), str(stderr)]])
        print(job, file=self._server.stdin, flush=True)
        assert self._server.stdout.readline() == "done\n"

    def close(self):
        self._server.communicate()


class Python:
    """The same where a process cannot be forked."""

    def run(self, code, environment, stdout, stderr):
        with open(stdout, "w") as out, open(stderr, "w") as err:
            subprocess.run([sys.executable, "-P", "-c", code], env=environment, stdout=out, stderr=err)

    def close(self):
        pass


def start():
    return Numba() if hasattr(os, "fork") else Python()
