"""Studies as people ask for them: surfaces, methods and settings to combine, or a file of many runs."""

import tomllib

from normint.files.reading import read_regular
from normint.inputs import as_count
from normint.workbook.study.experiment import integrated, knows
from normint.workbook.study.study import Study
from normint.workbook.study.values import values_of

DEFAULTS = {"surface": "vase", "method": "quadratic", "metrics": "rmse"}


def study_of(surfaces, methods, settings, metrics=("rmse",)):
    """Combine surfaces, methods and settings; each gets the settings that mean something to it.

    Parameters
    ----------
    surfaces, methods, metrics : sequence of str
    settings : dict
        From name to a list of values.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        If a setting means nothing to any of them.
    """
    blocks, used = [], set()
    for surface in surfaces:
        for method in methods:
            integrated.settle({"surface": surface, "method": method, **_of_kind(surface, settings)})
            own = {name: values for name, values in settings.items() if knows(name, surface, method)}
            used |= set(own)
            blocks.append(Study.over(surface=surface, **own, method=method, metrics=",".join(metrics)))
    unused = [name for name in settings if name not in used]
    if unused:  # to check it alone raises the error that names what there is
        one = {"surface": surfaces[0], "method": methods[0], **_of_kind(surfaces[0], settings)}
        integrated.settle({**one, unused[0]: settings[unused[0]][0]})
    return Study(integrated, tuple(one for block in blocks for one in block.settings))


def read_study(path):
    """Read a study from a TOML file.

    It has one table ``[[runs]]`` or several, each with a surface, a method, and settings; a list, or a text
    such as ``"1:100:log10"``, means every value of it, and ``seeds = 20`` means 20 draws of the noise. What
    stands before the first table holds for all.
    """
    try:
        content = tomllib.loads(read_regular(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as TOML: {error}") from None
    blocks = content.pop("runs", None)
    if not isinstance(blocks, list) or not blocks or not all(isinstance(block, dict) for block in blocks):
        raise ValueError(f"{path} has no [[runs]]; expected one for each block of runs")
    studies = [_block(path, {**content, **block}) for block in blocks]
    return Study(integrated, tuple(one for study in studies for one in study.settings))


def _block(path, block):
    names = {name: block.pop(name, default) for name, default in DEFAULTS.items()}
    for name, value in names.items():
        names[name] = _texts(path, name, value)
    if "seeds" in block:
        block["seed"] = list(range(as_count("seeds", block.pop("seeds"))))
    settings = {name: _listed(value) for name, value in block.items()}
    return study_of(names["surface"], names["method"], settings, names["metrics"])


def _texts(path, name, value):
    texts = value.split(",") if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{path}: {name} is {value!r}; expected a name, or a list of names")
    return [text.strip() for text in texts]


def _listed(value):
    if isinstance(value, list):
        return value
    return values_of(value) if isinstance(value, str) else [value]


def _of_kind(surface, settings):
    """Return what a scene cannot do without, so that it can be checked before the rest."""
    return {"kind": settings["kind"][0]} if surface == "scene" and settings.get("kind") else {}
