"""The book, built as `make site` builds it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def build(folder, *options):
    """Build the book into a folder, with warnings as errors, and return the folder of its pages."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", *options]
    command += ["-d", folder / "doctrees", ROOT / "docs", folder / "site"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"
