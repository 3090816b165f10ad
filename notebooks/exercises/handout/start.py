"""Open the exercises in JupyterLab. The first time, this installs what they need into the folder `.venv`."""

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = HERE / ".venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
READY = HERE / ".venv" / "ready"


def install():
    """Make the environment, once."""
    print("Installing what the exercises need, for the first time only ...", flush=True)
    venv.create(HERE / ".venv", with_pip=True, clear=True)
    # Python compiles what is used: all that is installed would take 120 MB more.
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--editable", str(HERE)]
    subprocess.run([PYTHON, "-m", "pip", "install", *options], check=True)
    READY.touch()


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 (pip's own words come later and are many)
        sys.exit("The exercises need Python 3.11 or newer: python3.12 start.py")
    if not READY.exists():
        install()
    if sys.argv[1:] != ["--only-install"]:
        folder = f"--notebook-dir={HERE / 'notebooks'}"
        sys.exit(subprocess.run([PYTHON, "-m", "jupyterlab", folder, *sys.argv[1:]]).returncode)
