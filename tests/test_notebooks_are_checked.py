"""The check of committed notebooks can fail: it sees a changed number, and only that."""

import json
import subprocess
import sys
from pathlib import Path

SANITIZE = Path(__file__).with_name("nbval_sanitize.cfg")
SOURCE = "print(f'RMSE {0.1 + 0.008:.3f}, in 12.3 ms')\nobject()"


def notebook(rmse, time="12.3 ms", address="0x7f00"):
    """Return a notebook with the stored outputs of one cell."""
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": [f"RMSE {rmse}, in {time}\n"]},
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "metadata": {},
            "data": {"text/plain": [f"<object at {address}>"]},
        },
    ]
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [{**cell, "source": SOURCE, "outputs": outputs}]
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def test_a_changed_number_fails_and_a_changed_time_does_not(tmp_path):
    for name, stored in (("01_time", notebook("0.108", "0.5 s")), ("02_number", notebook("0.109"))):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(stored))
    options = ["--nbval", f"--nbval-sanitize-with={SANITIZE}", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", tmp_path, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout and "0.109" in done.stdout
    assert "FAILED 02_number.ipynb" in done.stdout
