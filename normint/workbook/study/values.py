"""Values in words: ``45``, ``0.005,0.01``, ``1:100:log10``."""

import re

import numpy as np

RANGE = re.compile(r"([^:,]+):([^:,]+):(log|lin)(\d+)")


def values_of(text):
    """Turn a text into the values that it stands for.

    Examples
    --------
    >>> values_of("0.005,0.01"), values_of("1:100:log3"), values_of("0:1:lin3"), values_of("paper")
    ([0.005, 0.01], [1.0, 10.0, 100.0], [0.0, 0.5, 1.0], ['paper'])
    """
    between = RANGE.fullmatch(text.strip())
    if not between:
        return [_value(part.strip()) for part in text.split(",")]
    first, last, spacing, count = between.groups()
    try:
        first, last, count = float(first), float(last), int(count)
    except ValueError:
        raise ValueError(f"{text!r} has no number before and after the colon; expected 1:100:log10") from None
    if count < 2 or not np.isfinite([first, last]).all():
        raise ValueError(f"{text!r} must have finite ends and at least two values")
    if spacing == "log" and not (first > 0 and last > 0):
        raise ValueError(f"{text!r} must have positive ends, since logarithms are spaced evenly")
    between = np.geomspace if spacing == "log" else np.linspace
    return [float(f"{value:.12g}") for value in between(first, last, count)]  # 10, not 10.000000000000002


def settings_of(texts):
    """Turn texts such as ``mu=1,10`` into a dict from name to values.

    Examples
    --------
    >>> settings_of(["mu=1,10", "scheme=paper"])
    {'mu': [1, 10], 'scheme': ['paper']}
    """
    settings = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise ValueError(f"--set is {text!r}; expected NAME=VALUE")
        if name in settings:
            raise ValueError(f"--set has {name} twice; expected it once")
        settings[name] = values_of(values)
    return settings


def _value(text):
    if text.lower() in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    if not text:
        raise ValueError("a value is empty; expected one value, or several with commas between")
    return text
