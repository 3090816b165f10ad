"""What cells of notebook 00 say while they wait for what is compiled."""

from threading import Event

import pytest
from IPython.core.interactiveshell import InteractiveShell

from normint import compiling, paths
from normint.workbook import first_use


@pytest.mark.parametrize("watched", [True, False])
def test_a_cell_that_integrates_while_all_is_compiled_says_so(watched, monkeypatch, capsys):
    shell, begun, enough = InteractiveShell(), Event(), Event()
    monkeypatch.setattr(first_use, "get_ipython", lambda: shell)
    monkeypatch.setattr(first_use, "_compile", lambda: begun.set() or enough.wait(60))
    monkeypatch.setattr(compiling, "complete", lambda: False)
    monkeypatch.setattr(paths, "watched", lambda: watched)
    first_use.compile_while_reading()
    assert begun.wait(5 if watched else 0.1) == watched
    said = []
    for code in ("1 + 1", "'integrate'"):
        shell.run_cell(code)
        said.append("compiling" in capsys.readouterr().out)
    enough.set()
    assert said == [False, watched]
