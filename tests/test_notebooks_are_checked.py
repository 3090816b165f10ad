"""The check of committed notebooks can fail: it sees a changed number, and only that."""

import json
import subprocess
import sys
from pathlib import Path

SANITIZE = Path(__file__).with_name("nbval_sanitize.cfg")
SOURCE = "print(f'RMSE {0.1 + 0.008:.3f}, in 12.3 ms')\nobject()"


def cell(rmse, time="12.3 ms", address="0x7f00"):
    """Return a cell with its stored outputs."""
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": [f"RMSE {rmse}, in {time}\n"]},
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "metadata": {},
            "data": {"text/plain": [f"<object at {address}>"]},
        },
    ]
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": SOURCE, "outputs": outputs}


def test_a_changed_number_fails_and_a_changed_time_does_not(tmp_path):
    cells = [{**cell("0.108", "0.5 s"), "id": "time"}, {**cell("0.109"), "id": "number"}]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    stored = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "stored.ipynb").write_text(json.dumps(stored))
    options = ["--nbval", f"--nbval-sanitize-with={SANITIZE}", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", tmp_path, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout and "0.109" in done.stdout
    assert "FAILED stored.ipynb::Cell 1" in done.stdout
