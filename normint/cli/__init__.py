"""The `normint` command. Each subcommand is one function that takes the parsed arguments."""

import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from normint import __version__
from normint.cli.course import add_course
from normint.cli.integrate import add_integrate
from normint.cli.methods import add_methods
from normint.cli.parsing import Parser, UsageError
from normint.cli.printing import CannotPrint, complain, keep_standard_streams, say
from normint.cli.study import add_study
from normint.cli.warm_up import add_warm_up, compile_first

CHANGES = ("quick", "seed", "set")  # flags that vary what the notebooks do


def main(argv=None):
    """Run the command and return its exit code.

    0 for success; 1 for failed notebooks, normals that could not be integrated, a missing library, or output
    that could not be printed; 2 for wrong usage, or
    input that no notebook can run with; 3 for normals whose integration did not converge; 130 for Ctrl-C.
    What went wrong is one line on stderr.
    """
    keep_standard_streams()
    try:
        arguments = parser().parse_args(argv)
        return arguments.command(arguments)
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except ImportError as error:
        missing = f"{error.name or error} is not installed; pip install 'normint[workbook]' has it"
        complain(f"error: {error if 'pip install' in str(error) else missing}")
        return 1
    except (CannotPrint, MemoryError) as error:
        complain(f"error: {error or 'there is not enough memory'}")
        return 1
    except (UsageError, ValueError, OSError, RecursionError) as error:
        complain(f"error: {error}")
        return 2


def workbook(arguments):
    """Run the notebooks and print a table of what came of them."""
    # Imported here, so that the help of any command comes at once.
    from normint import paths
    from normint.workbook.progress import Progress
    from normint.workbook.run import report as summary
    from normint.workbook.run import run
    from normint.workbook.variations import variant_name

    paths.root()  # first: no library helps where the notebooks are not
    if find_spec("papermill") is None:  # the run itself imports it where there is something to run
        raise ModuleNotFoundError(name="papermill")
    options = {name: value for name, value in vars(arguments).items() if name not in ("command", *CHANGES)}
    options["changes"] = _changes(arguments)
    try:
        outcomes = run(**options, progress=Progress(), prepare=compile_first)
    except KeyboardInterrupt:
        complain("interrupted; the same command goes on from here")
        return 130
    say(summary(outcomes))
    if options["changes"]:
        folder = options["out"] or paths.root() / "build" / variant_name(options["changes"])
        with suppress(FileNotFoundError):  # no notebook was done
            say("\n" + (Path(folder) / "comparison.md").read_text(encoding="utf-8"), end="")
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def _changes(arguments):
    """Return the parameters of notebooks that a command line changes."""
    from normint.workbook.study.values import settings_of

    changes = {"quick": True} if arguments.quick else {}
    if arguments.seed is not None:
        changes["seed"] = arguments.seed
    for name, values in settings_of(arguments.set).items():
        if name in changes:
            raise UsageError(f"--set has {name}, which --{name} gives as well; expected one of them")
        changes[name] = values[0] if len(values) == 1 else values
    return changes


def results(arguments):
    """Print the table of results, or write it into the README, with the findings."""
    from normint import paths
    from normint.workbook.overview import update_readme
    from normint.workbook.results import read, table

    if arguments.update_readme:
        update_readme(paths.root() / "README.md", read())
    else:
        say(table())
    return 0


def report(arguments):
    """Write the replication report and print where it is."""
    from normint.workbook.report import build

    say(build(arguments.out))
    return 0


def parser():
    """Return the parser of the command, with all that belongs to it."""
    whole = Parser(prog="normint", description="Integrate normals; rerun the experiments.")
    whole.add_argument("--version", action="version", version=f"normint {__version__}")
    commands = whole.add_subparsers(required=True, metavar="command")
    add_integrate(commands)
    add_methods(commands)
    add_warm_up(commands)
    add_study(commands)
    _add_workbook(commands)
    _add_results(commands)
    _add_report(commands)
    add_course(commands)
    return whole


def _add_workbook(commands):
    parser = commands.add_parser("workbook", help="run the notebooks: all figures, all numbers")
    add = parser.add_argument
    add("--only", action="append", default=[], metavar="NN", help="only notebooks that begin so (repeatable)")
    add("--quick", action="store_true", help="small versions of the experiments, into build/quick")
    add("--seed", type=int, metavar="N", help="another seed, into build/seedN")
    add(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another value of a notebook's parameter",
    )
    add("--data", metavar="DIR", help="folder of the real data sets (or set NORMINT_DATA)")
    add("--out", metavar="DIR", help="where to write instead of build/ and figures/")
    add("--force", action="store_true", help="run also what did not change")
    add("--timeout", type=float, default=600, metavar="SECONDS", help="for each notebook (%(default)s)")
    jobs = min(2, os.cpu_count() or 1)
    add("--jobs", type=int, default=jobs, metavar="N", help="notebooks at a time (%(default)s)")
    add("--update", action="store_true", help="write the outputs back into notebooks/ (for maintainers)")
    parser.set_defaults(command=workbook)


def _add_results(commands):
    parser = commands.add_parser("results", help="print the results beside the paper's, as a Markdown table")
    parser.add_argument("--update-readme", action="store_true", help="write it, and findings, into README.md")
    parser.set_defaults(command=results)


def _add_report(commands):
    parser = commands.add_parser("report", help="write the replication report, a PDF, from the results")
    parser.add_argument("--out", metavar="FILE", help="the PDF (build/report.pdf)")
    parser.set_defaults(command=report)
