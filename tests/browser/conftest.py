"""Tests in a browser run only when they are asked for: `make test-browser`."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from browser.lab import BROWSERS, chromium, find_browser

HERE = Path(__file__).resolve().parent


def pytest_ignore_collect(collection_path, config):
    """Leave this folder alone in runs of the other tests."""
    asked = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    return None if any(path == HERE or HERE in path.parents for path in asked) else True


@pytest.fixture(scope="session")
def browser():
    """Yield a headless Chromium; skip, or fail where one is required, if there is none."""
    found = find_browser()
    if found is None:
        _missing(f"no browser is here (looked for {', '.join(BROWSERS)}): nothing is tested in one")
    if find_spec("playwright") is None:
        _missing("playwright is not installed: nothing is tested in a browser")
    with chromium(found) as started:
        yield started


def _missing(text):
    if os.environ.get("NORMINT_REQUIRE_BROWSER"):
        pytest.fail(text)
    pytest.skip(text)
