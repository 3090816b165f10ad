"""What all tests share."""

import os
import tempfile

import pytest
from hypothesis import settings

# What a test runs is run: no row of an earlier study stands in for it.
_studies = tempfile.TemporaryDirectory(prefix="normint-studies-")
os.environ["NORMINT_STUDIES"] = _studies.name

# How long an example takes says nothing about whether it is right, least of all on a machine that is shared.
# Half of the usual examples, for time; `make torture` tries methods and files on as many as one likes.
settings.register_profile("normint", deadline=None, max_examples=50)
settings.load_profile("normint")


def pytest_collection_modifyitems(items):
    """Begin with files that have slow tests, so that no process waits for one of them in the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture
def relief(tmp_path, monkeypatch):
    """Return the folder of a small normal map, in an empty folder that commands then write into."""
    from relief_files import make

    monkeypatch.chdir(tmp_path)
    return make(tmp_path / "relief")
