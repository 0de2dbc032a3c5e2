"""Whatever text is given as a path: it is refused, absent, or truly beneath the root."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import Unsafe
from holdfast.files import Root

NAMES = [
    "a",
    "b",
    "file",
    "out",
    "up",
    "dangling",
    "leak",
    "secret",
    "root",
    "rootx",
    "..",
    ".",
    "",
    "\0",
]
PATHS = st.one_of(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=6).map("/".join),
    st.lists(st.text(max_size=4) | st.sampled_from(NAMES), max_size=4).map("/".join),
    st.text(st.characters(), max_size=20),
)


@pytest.fixture(scope="module")
def root() -> Iterator[Root]:
    with TemporaryDirectory() as home:
        top = Path(home)
        for place in ("root/a/b", "rootx", "outside"):
            (top / place).mkdir(parents=True)
        for place in ("rootx", "outside"):
            (top / place / "secret").write_bytes(b"secret")
        for place in ("root", "root/a", "root/a/b"):
            (top / place / "file").write_bytes(b"inside")
            (top / place / "out").symlink_to(top / "outside")
            (top / place / "up").symlink_to("..")
            (top / place / "leak").symlink_to(top / "outside" / "secret")
            (top / place / "dangling").symlink_to(top / "outside" / "new")
        yield Root(top / "root")


def outside(root: Root) -> dict[str, bytes]:
    beside = (root.path.parent / name for name in ("rootx", "outside"))
    return {str(each): each.read_bytes() for place in beside for each in place.iterdir()}


@given(path=PATHS)
def test_what_is_read_is_truly_beneath_the_root(root: Root, path: str) -> None:
    with suppress(Unsafe, FileNotFoundError):
        assert root.read(path) != b"secret"
        assert Path(os.path.realpath(root.path / path)).is_relative_to(root.path)
        assert os.path.realpath(root.path / path) == os.path.normpath(root.path / path)


@given(path=PATHS)
def test_what_is_written_is_truly_beneath_the_root(root: Root, path: str) -> None:
    before = outside(root)
    with suppress(Unsafe, FileNotFoundError):
        root.write(path, b"inside")
        assert Path(os.path.realpath(root.path / path)).is_relative_to(root.path)
        assert root.read(path) == b"inside"
    assert outside(root) == before
    assert sorted(os.listdir(root.path.parent)) == ["outside", "root", "rootx"]


@given(path=PATHS)
def test_what_is_made_or_listed_is_truly_beneath_the_root(root: Root, path: str) -> None:
    before = outside(root)
    with suppress(Unsafe, FileNotFoundError):
        root.make_directory(path)
        assert Path(os.path.realpath(root.path / path)).is_relative_to(root.path)
        root.listing(path)
    assert outside(root) == before
