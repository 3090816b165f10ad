"""What a person reads about an integration: five lines."""

from pathlib import Path

from normint.cli.printing import one_line

__all__ = ["five_lines", "jumps_line"]


def five_lines(summary, seconds):
    """Return the size, the axes, the method, the time and the jumps, from the report and the seconds it took.

    Parameters
    ----------
    summary : dict
        As from :func:`normint.cli.outputs.report`.
    seconds : float
        Of everything, from reading to writing.

    Returns
    -------
    list of str
    """
    from normint.compiling import compiled
    from normint.integration import METHODS

    settings, spent = summary["settings"], summary["seconds"]
    method, iterations = settings["method"], summary["iterations"]
    files = [Path(file) for file in summary["files"]]
    times = "1 iteration" if iterations == 1 else f"{iterations} iterations"
    label = METHODS[method].label
    what = "" if label == method else f"{label}, "
    compiling = " and, this once, compiling" if compiled() else ""
    lines = {
        "size": f"{summary['rows']} × {summary['columns']} pixels, {summary['pixels']} of them integrated",
        "axes": f"{settings['axes']}: {settings['axes why']}",
        "method": f"{method}: {what}{times}",
        "time": f"{seconds:.2g} s, {spent['integration']:.2g} s of it integration{compiling}; "
        f"wrote {', '.join(file.name for file in files)} in {files[0].parent}",
        "jumps": jumps_line(summary),
    }
    return [one_line(f"{name:7} {text}") for name, text in lines.items()]


def jumps_line(summary):
    """Return where the surface jumps, in words."""
    from normint.jumps import Jumps

    if summary["jumps"] is None:
        return f"{summary['settings']['method']} looks for none; --method calibrated does"
    return str(Jumps(**summary["jumps"]))
