"""Paths that can be no store: refused in our own words, and nothing left behind."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.plugins import file_of
from holdfast.errors import InvalidRequest, Unsafe
from holdfast.stores.sqlite.location import file_at


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "do"),
    [
        ("~nobody-has-this-name/log.db", "write the path in full"),
        ("a\0b.db", "NUL"),
        (":memory:", "memory:"),
        ("sqlite:///:memory:", "memory:"),
        ("caf\udce9.db", "rename it"),
        ("caf\udce9/log.db", "rename it"),
        ("x" * 248, "at most 247 bytes.*has 248; name another"),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}" * 124, "at most 247 bytes.*has 248"),
        ("d" * 300 + "/log.db", "no file can be at"),
        (f"/{'d/' * 250}{'x' * 4}", "at most 504 bytes.*has 505; name another"),
    ],
)
def test_what_can_be_no_file_of_a_store_is_refused(here: Path, path: str, do: str) -> None:
    with pytest.raises(InvalidRequest, match=do):
        holdfast.open(path)
    with pytest.raises(InvalidRequest, match=do):
        file_of(path)
    assert list(here.iterdir()) == []


def test_a_store_has_room_for_the_files_beside_it(here: Path) -> None:
    deep = Path("a" * (504 - len(str(here)) - 249), "x" * 247)
    assert len(os.path.abspath(deep)) == 504
    with holdfast.open(deep) as hf:
        hf.session().user("hello")
    with holdfast.open(deep) as hf:
        assert [one.head for one in hf.sessions()] == [1]


def test_a_link_is_answered_with_the_file_it_leads_to(here: Path) -> None:
    holdfast.open("real.db").close()
    (here / "link.db").symlink_to("real.db")
    with pytest.raises(Unsafe, match=r"symlink to '.*/real\.db'"):
        holdfast.open("link.db")


def test_the_file_of_a_path_is_told_in_full(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here / "home"))
    assert file_at("log.db") == here / "log.db"
    assert file_at(Path("~/log.db")) == here / "home" / "log.db"


def test_a_umask_that_takes_everything_does_not_shut_us_out(here: Path) -> None:
    before = os.umask(0o777)
    try:
        with holdfast.open("deep/down/log.db") as hf:
            hf.session().user("hello")
    finally:
        os.umask(before)
    for path, mode in (("deep", 0o700), ("deep/down", 0o700), ("deep/down/log.db", 0o600)):
        assert stat.S_IMODE(os.stat(here / path).st_mode) == mode
