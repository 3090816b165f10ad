"""Run one submission, and send what its functions return: a script for a process without rights.

It reads what to do from standard input, as JSON, and writes a line of JSON for each case of each task to
standard output. It knows neither answers nor verdicts, so that there is nothing in its process for a
submission to read or to change: whatever is sent is judged elsewhere, as numbers.
"""

import json
import os
import re
import signal
import sys


class OutOfTime(BaseException):
    """A cell or a function takes too long. It is no `Exception`, so that few programs catch it."""


def main():
    """Run the cells, call the functions that the exercise asks for, and send the results."""
    asked = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # what a submission prints is nobody's answer
        os.dup2(nowhere, stream)
    give_up_rights()
    sys.path.insert(0, asked["package"])
    from normint import course
    from normint.course.checking import Task

    tasks = course.EXERCISES[asked["exercise"]]
    cases = [task.cases(asked["seed"]) for task in tasks]
    Task.__call__ = lambda task, function: False  # experiments need not run
    names = {"__name__": "__main__", "display": lambda *shown: None}
    for number, text in enumerate(asked["cells"], start=1):
        trouble = within(asked["seconds"], run_cell, number, text, names)
        if trouble:
            send(out, {"cell": number, "trouble": trouble})
    for place, (task, tried) in enumerate(zip(tasks, cases, strict=True)):
        for case, arguments in tried.items():
            answer = f"there is no function {task.name}."
            if callable(function := names.get(task.name)):
                answer = within(asked["seconds"], task.answer, function, case, arguments)
            result = {"trouble": answer} if isinstance(answer, str) else {"answer": plain(answer)}
            send(out, {"task": place, "case": case, **result})
            if "trouble" in result:
                break  # the task is wrong, and the others need the time
    out.close()
    os._exit(0)  # whatever a submission wants to do at the exit


def give_up_rights():
    """Start no process from here on, and open no connection; the kernel may forbid both already."""
    import resource
    import socket

    def refuse(*arguments, **options):
        raise PermissionError("there is no network here")

    socket.socket.connect = socket.socket.connect_ex = socket.socket.bind = socket.socket.sendto = refuse
    socket.getaddrinfo = socket.create_connection = refuse
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def run_cell(number, text, names):
    """Run the code of a cell but for its magics; return what went wrong, in a line, or None."""
    text = "" if text.lstrip().startswith("%%") else re.sub(r"(?m)^\s*[%!].*$", "", text)
    try:
        exec(compile(text, f"<cell {number}>", "exec"), names)
    except OutOfTime:
        raise
    except BaseException as error:  # also SystemExit: the functions defined so far may be right
        return f"{type(error).__name__}: {error}"
    return None


def within(seconds, function, *arguments):
    """Call a function, but not for longer; return what it returns, or that it took too long."""

    def stop(*_):
        raise OutOfTime

    try:
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)  # again and again, should it be caught
        return function(*arguments)
    except OutOfTime:
        return f"your code takes longer than {seconds:g} s"
    except BaseException as error:
        return f"your code stops: {type(error).__name__}"
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except OutOfTime:
            signal.setitimer(signal.ITIMER_REAL, 0)


def plain(answer):
    """Return arrays as lists of a shape and values."""
    return [[list(part.shape), part.ravel().tolist()] for part in answer]


def send(out, what):
    """Write a line, at once: the next case may be the last thing that this process does."""
    out.write(json.dumps(what) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
