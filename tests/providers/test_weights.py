"""Fetching the small model runs our own pip, whatever lies in the directory we work in."""

from pathlib import Path

import pytest

from holdfast.errors import Unavailable
from holdfast.providers import weights


def test_a_pip_that_lies_in_the_working_directory_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(Unavailable):
        weights.pull()
    assert not (tmp_path / "ran").exists()
