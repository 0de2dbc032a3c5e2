"""Files cut at bytes all over them, the long form at every single one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.cuts import Cutting
from tests.fuzz.forms import FORMS

CUTS = 60
"""How many cuts of each file the short form makes."""

each_form = pytest.mark.parametrize("name", FORMS)


@each_form
def test_every_whole_record_before_a_cut_is_told(name: str, tmp_path: Path) -> None:
    cutting = Cutting(FORMS[name], tmp_path)
    size = len(cutting.data)
    assert list(cutting.wrong(range(0, size + 1, max(size // CUTS, 1)))) == []


@pytest.mark.long
@each_form
def test_every_whole_record_before_a_cut_at_every_byte_is_told(name: str, tmp_path: Path) -> None:
    cutting = Cutting(FORMS[name], tmp_path)
    assert list(cutting.wrong(range(len(cutting.data) + 1))) == []
