"""Reading a file of any size in pieces, in bounded memory, and which piece it was."""

import tracemalloc
from pathlib import Path

import pytest

from holdfast.agent.tools import read_file
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.errors import InvalidRequest

LARGEST = 4_194_304
"""What is promised, in numbers: these tests stand at its edges."""

MANY = 2_000_000


@pytest.fixture
def box(tmp_path: Path) -> Toolbox:
    (tmp_path / "large.log").write_text("".join(f"line {n}\n" for n in range(1, MANY + 1)))
    (tmp_path / "small.txt").write_text("one\ntwo\x0bstill two\r\nthree")
    (tmp_path / "empty.txt").write_text("")
    return Toolbox(str(tmp_path))


def test_pieces_of_a_large_file(box: Toolbox) -> None:
    tracemalloc.start()
    told = box.run("read", {"path": "large.log", "offset": 1_500_000, "limit": 2})
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert told == ("line 1500000\nline 1500001\n[lines 1,500,000 to 1,500,001 of 2,000,000]")
    assert held < LARGEST + (4 << 20)
    first = box.run("read", {"path": "large.log"}).split("\n")
    assert first[0] == "line 1"
    shown = len(first) - 1
    assert first[-1] == f"[lines 1 to {shown:,} of 2,000,000]"
    after = box.run("read", {"path": "large.log", "offset": shown + 1, "limit": 1})
    assert after.startswith(f"line {shown + 1}\n")
    end = box.run("read", {"path": "large.log", "offset": MANY - 1})
    assert end == "line 1999999\nline 2000000\n[lines 1,999,999 to 2,000,000 of 2,000,000]"


def test_a_small_file_is_whole_and_its_lines_are_those_of_other_programs(box: Toolbox) -> None:
    assert box.run("read", {"path": "small.txt"}) == "one\ntwo\x0bstill two\r\nthree"
    assert box.run("read", {"path": "small.txt", "limit": 3}).endswith("three")
    piece = box.run("read", {"path": "small.txt", "offset": 3})
    assert piece == "three\n[lines 3 to 3 of 3]"
    assert box.run("read", {"path": "small.txt", "offset": -4, "limit": 1}) == (
        "one\n[lines 1 to 1 of 3]"
    )
    assert box.run("read", {"path": "empty.txt"}) == ""
    beyond = box.run("read", {"path": "small.txt", "offset": 9})
    assert beyond == "[line 9 was not found; there are 3]"


def test_a_line_too_long_is_cut_and_said_to_be(box: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("[" + "1," * LARGEST + "1]\nend\n")
    told = box.run("read", {"path": "one.json"})
    assert told.endswith("\n[lines 1 to 1 of 2; line 1 is cut, it is too long]")
    assert len(told) < read_file.PIECE + 100
    assert box.run("read", {"path": "one.json", "offset": 2}) == "end\n[lines 2 to 2 of 2]"


def test_what_there_was_no_time_to_count_is_said_to_be_more(
    box: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_file, "SECONDS", 0.0)
    assert "of over" in box.run("read", {"path": "large.log"}) or (
        "there are over" in box.run("read", {"path": "large.log"})
    )


def test_what_is_no_text_is_not_read(box: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"a\0b")
    with pytest.raises(InvalidRequest, match="no text"):
        box.run("read", {"path": "x.bin"})
