"""`normint study`: vary methods, parameters, noise and surfaces; get a table, a picture, a file."""

from normint.cli.parsing import UsageError
from normint.cli.printing import complain, say


def add_study(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        "study",
        help="run an experiment for many settings",
        epilog="a value is 45, or several: 1,10,100; 1:100:log10 (ten, from 1 to 100); 0:1:lin5",
    )
    add = parser.add_argument
    add(
        "what", metavar="SURFACE", help="vase, peaks, canadian_tent, scene, …; or a file .toml with all of it"
    )
    add("--method", action="append", default=[], metavar="NAME", help="(quadratic; repeatable)")
    add(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="a setting of the surface (n, sigma, …) or an option of the method (repeatable)",
    )
    add("--seeds", type=int, metavar="N", help="draws of the noise (1)")
    add(
        "--metric",
        action="append",
        default=[],
        metavar="NAME",
        help="rmse, inside, near_jumps, border_bias, steps",
    )
    add("--workers", type=int, default=1, metavar="N", help="processes of this machine (%(default)s)")
    add("--scheduler", metavar="ADDRESS", help="of a Dask scheduler, such as tcp://10.0.0.1:8786")
    add("--dry-run", action="store_true", help="say how many runs there are, and how long they take")
    add("--out", metavar="FILE", help="all rows, as .csv or .parquet")
    add("--plot", metavar="FILE", help="a picture: .png, .pdf, .svg")
    add("--folder", metavar="DIR", help="where runs are kept, so that none is made twice (build/studies)")
    parser.set_defaults(command=study)


def study(arguments):
    """Run a study, or say how long it would take."""
    from normint.workbook.study.study import FailedRuns
    from normint.workbook.study.tables import check_ending, over_draws, varied, write_table

    asked = _asked(arguments)
    if arguments.out:
        check_ending(arguments.out)
    if arguments.plot:
        _check_picture(arguments.plot)
    if arguments.dry_run:
        return _tell(asked, arguments)
    status = 0
    try:
        table = asked.run(
            workers=arguments.workers, scheduler=arguments.scheduler, folder=arguments.folder, label="runs"
        )
    except FailedRuns as error:
        complain(f"error: {error}")
        status, table = 1, error.table
    except KeyboardInterrupt:
        complain("interrupted; the same command goes on from here")
        return 130
    if not len(table):
        return status
    metrics = _metrics(asked)
    if arguments.out:
        write_table(table, arguments.out)
    if arguments.plot:
        from normint.workbook.figures.study_chart import study_chart

        _save(study_chart(table, metrics[0], varied(table, metrics)), arguments.plot)
    say(over_draws(table, metrics).to_string(index=False, float_format="{:.4g}".format))
    return status


def _asked(arguments):
    from normint.inputs import as_count
    from normint.workbook.study.asking import read_study, study_of
    from normint.workbook.study.values import settings_of

    if arguments.what.endswith(".toml"):
        if arguments.method or arguments.set or arguments.metric or arguments.seeds is not None:
            raise UsageError("a file says all of it: give no --method, --set, --seeds or --metric beside it")
        return read_study(arguments.what)
    settings = settings_of(arguments.set)
    if arguments.seeds is not None:
        if "seed" in settings:
            raise UsageError("--seeds and --set seed are given; expected one of them")
        settings["seed"] = list(range(as_count("seeds", arguments.seeds)))
    surfaces = [text.strip() for text in arguments.what.split(",")]
    return study_of(surfaces, arguments.method or ["quadratic"], settings, arguments.metric or ["rmse"])


def _tell(asked, arguments):
    """Say how many runs there are and how long they will take."""
    from normint.workbook.study.tables import seconds_left

    seconds = seconds_left(asked, arguments.folder) / max(1, arguments.workers)
    left = len(asked.missing(arguments.folder))
    minutes = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
    where = "" if arguments.workers == 1 else f" on {arguments.workers} processes"
    say(f"{len(asked)} runs, {len(asked) - left} of them done; the other {left} take about {minutes}{where}")
    return 0


def _metrics(asked):
    return list(dict.fromkeys(name for one in asked.settings for name in one["metrics"].split(",")))


def _check_picture(path):
    from pathlib import Path

    if Path(path).suffix not in (".png", ".pdf", ".svg"):
        raise ValueError(f"plot is {path}; expected a name that ends in .png, .pdf or .svg")


def _save(figure, path):
    from normint.files.writing import write_atomically

    with write_atomically(path) as temporary:
        figure.savefig(temporary)
