"""The README says what is so: its table, its code, its commands and its links."""

import re
import subprocess
import sys

import pytest

from normint.results import BEGIN, END, ROOT, read, table

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_results_table_is_the_one_the_results_give():
    shown = README.split(BEGIN)[1].split(END)[0].strip()
    assert shown == table(read(ROOT / "figures"))
    assert "reproduced within" in shown


def test_the_python_blocks_run_one_after_the_other():
    code = "\n".join(re.findall(r"```python\n(.*?)```", README, flags=re.S))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(320, 320) 0.108")


def test_the_two_commands_are_there():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.M)
    for command in re.findall(r"make ([a-z]+)", README):
        assert command in targets


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", README))))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()
