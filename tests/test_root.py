"""No path leads out of a root, whatever lies in it and whoever moves it."""

import os
import sys
import threading
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from time import monotonic

import pytest

from holdfast.errors import Unsafe
from holdfast.files import Found, Root, private_directory

USES: dict[str, Callable[[Root, str], object]] = {
    "read": lambda root, path: root.read(path),
    "open": lambda root, path: root.open(path).close(),
    "chunks": lambda root, path: list(root.chunks(path)),
    "write": lambda root, path: root.write(path, b"written"),
    "stat": lambda root, path: root.stat(path),
    "listing": lambda root, path: root.listing(path),
    "walk": lambda root, path: list(root.walk(path)),
    "remove": lambda root, path: root.remove(path),
    "make_directory": lambda root, path: root.make_directory(path),
}
EVERY_USE = pytest.mark.parametrize("use", USES.values(), ids=USES.keys())


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """A root with a file, links of every sort, and beside it what must never be reached."""
    for place in ("outside/deep", "root/a/b", "rootx"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("outside/secret", "outside/deep/secret", "rootx/secret"):
        (tmp_path / place).write_bytes(b"secret")
    (tmp_path / "root/a/b/file").write_bytes(b"inside")
    (tmp_path / "root/out").symlink_to(tmp_path / "outside")
    (tmp_path / "root/a/out").symlink_to("../../outside")
    (tmp_path / "root/a/secret").symlink_to("../../outside/secret")
    (tmp_path / "root/a/dangling").symlink_to("../../outside/new")
    (tmp_path / "root/a/inner").symlink_to("b")
    (tmp_path / "root/a/loop").symlink_to("loop")
    return Root(tmp_path / "root")


def outside(root: Root) -> dict[str, bytes | None]:
    beside = root.path.parent
    return {
        str(each.relative_to(beside)): each.read_bytes() if each.is_file() else None
        for each in beside.rglob("*")
        if not each.is_relative_to(root.path)
    }


@EVERY_USE
@pytest.mark.parametrize(
    "path",
    [
        *("out/secret", "out/deep/secret", "a/out/secret", "a/out/deep/secret", "a/inner/file"),
        *("a/secret", "a/dangling", "a/dangling/x", "a/inner", "a/loop", "out", "a/b/file/x"),
    ],
)
def test_a_link_is_refused_wherever_it_lies(
    root: Root, use: Callable[[Root, str], object], path: str
) -> None:
    before = outside(root)
    with pytest.raises(Unsafe) as raised:
        use(root, path)
    assert raised.value.path.startswith(str(root.path))
    assert outside(root) == before


@EVERY_USE
@pytest.mark.parametrize(
    "path",
    [
        *(
            "",
            "..",
            "../outside/secret",
            "../rootx/secret",
            "a/../../outside/secret",
            "a/..",
            "a/b/..",
        ),
        *("/etc/passwd", "//etc/passwd", "a\0b", "\0", "\ud800", "a/\udfff", "x" * 300),
    ],
)
def test_what_is_no_path_within_is_refused(
    root: Root, use: Callable[[Root, str], object], path: str
) -> None:
    before = outside(root)
    with pytest.raises(Unsafe):
        use(root, path)
    assert outside(root) == before


@EVERY_USE
def test_the_whole_path_of_a_file_within_is_refused_too(
    root: Root, use: Callable[[Root, str], object]
) -> None:
    for path in (f"{root.path}/a/b/file", f"{root.path}x/secret"):
        with pytest.raises(Unsafe, match="is absolute"):
            use(root, path)


def test_an_error_names_the_path_and_says_why_and_what_to_do(root: Root) -> None:
    with pytest.raises(Unsafe) as raised:
        root.read("a/secret")
    assert raised.value.path == str(root.path / "a" / "secret")
    assert raised.value.why == "is a symbolic link"
    assert raised.value.do


@pytest.mark.parametrize("name", ["read", "stat", "listing", "walk", "remove"])
def test_what_is_absent_is_absent_not_unsafe(root: Root, name: str) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        USES[name](root, "a/none")
    assert raised.value.filename == str(root.path / "a" / "none")


def test_a_fifo_neither_blocks_nor_opens(root: Root) -> None:
    os.mkfifo(root.path / "fifo")
    for name in ("read", "open", "chunks", "write", "stat", "listing", "remove"):
        with pytest.raises(Unsafe):
            USES[name](root, "fifo")


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no device to try")
def test_a_device_is_refused() -> None:
    for name in ("read", "write", "stat", "remove"):
        with pytest.raises(Unsafe, match="special file"):
            USES[name](Root("/dev"), "null")


def test_a_directory_is_not_a_file_and_the_root_not_something_in_it(root: Root) -> None:
    for path in ("a", "a/b/", ".", "./"):
        for name in ("read", "write"):
            with pytest.raises(Unsafe):
                USES[name](root, path)
    with pytest.raises(Unsafe, match="the root itself"):
        root.remove(".")


def test_a_file_is_written_read_and_removed(root: Root) -> None:
    root.make_directory("new/deep/er")
    root.write("new/deep/er/file", b"\0\xff" * 5)
    assert root.read(Path("new/deep") / "er" / "file") == b"\0\xff" * 5
    assert root.read("./new//deep/./er/file") == b"\0\xff" * 5
    assert oct(root.stat("new/deep/er/file").st_mode) == "0o100600"
    assert {oct(root.stat(each).st_mode) for each in ("new", "new/deep")} == {"0o40700"}
    root.make_directory("new/deep")
    with root.open("new/deep/er/file") as file:
        file.seek(8)
        assert file.read() == b"\0\xff"
    root.remove("new/deep/er/file")
    root.remove("new/deep/er")
    with pytest.raises(FileNotFoundError):
        root.stat("new/deep/er")
    with pytest.raises(OSError, match="not empty"):
        root.remove("a/b")


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
def test_names_that_are_no_text_are_reached_as_they_are_listed(root: Root) -> None:
    name = os.fsdecode(b"caf\xe9 \\ \n")
    root.write(name, b"here")
    assert root.read(next(found.path for found in root.listing() if "caf" in found.path)) == b"here"


def test_a_file_is_read_up_to_its_limit_and_no_further(root: Root) -> None:
    root.write("exact", b"x" * 100)
    assert root.read("exact", limit=100) == b"x" * 100
    for limit in (99, 0):
        with pytest.raises(Unsafe, match=f"exceeds {limit} bytes"):
            root.read("exact", limit=limit)
    root.write("empty", b"")
    assert root.read("empty", limit=0) == b""


def test_a_file_that_grows_while_it_is_read_meets_its_limit(root: Root) -> None:
    root.write("growing", b"x" * (1 << 20))
    chunks = root.chunks("growing", limit=(1 << 20) + 10)
    assert len(next(chunks)) == 1 << 20
    with open(root.path / "growing", "ab") as file:
        file.write(b"x" * 11)
    with pytest.raises(Unsafe, match="exceeds"):
        next(chunks)


def test_a_large_file_comes_in_bounded_pieces(root: Root) -> None:
    root.write("large", b"x" * (5 << 19))
    assert [len(chunk) for chunk in root.chunks("large")] == [1 << 20, 1 << 20, 1 << 19]


def test_a_listing_reports_links_and_devices_without_following_them(root: Root) -> None:
    os.mkfifo(root.path / "a" / "fifo")
    assert [(found.path, found.kind) for found in root.listing("a")] == [
        ("a/b", "directory"),
        ("a/dangling", "symlink"),
        ("a/fifo", "special file"),
        ("a/inner", "symlink"),
        ("a/loop", "symlink"),
        ("a/out", "symlink"),
        ("a/secret", "symlink"),
    ]


def test_a_walk_meets_everything_once_and_leaves_out_what_it_is_told(root: Root) -> None:
    def skip(found: Found) -> bool:
        return found.kind == "symlink" or found.path == "skipped"

    root.make_directory("skipped/deep")
    root.write("z", b"")
    assert [found.path for found in root.walk(skip=skip)] == ["a", "a/b", "a/b/file", "z"]
    assert [found.path for found in root.walk("a/b")] == ["a/b/file"]


def test_a_walk_of_too_many_names_is_an_error_and_never_cut_short(root: Root) -> None:
    whole = len(list(root.walk()))
    assert len(list(root.walk(limit=whole))) == whole
    for limit in (0, 1, whole - 1):
        with pytest.raises(Unsafe, match=r"exceeds \d+ names"):
            list(root.walk(limit=limit))
    with pytest.raises(Unsafe, match=r"exceeds \d+ names"):
        root.listing("a", limit=2)


def test_a_directory_removed_during_a_walk_is_passed_over(root: Root) -> None:
    root.make_directory("first/gone")
    walk = root.walk(skip=lambda found: found.kind == "symlink")
    assert [next(walk).path for _ in range(5)][-1] == "first/gone"
    root.remove("first/gone")
    assert list(walk) == []


def test_a_tree_deeper_than_any_path_may_be_long_is_walked(tmp_path: Path) -> None:
    root = Root(private_directory(tmp_path / "deep"))
    deep = "/".join(["x" * 200] * 25)
    root.make_directory(deep)
    root.write(f"{deep}/file", b"found")
    assert [found.path for found in root.walk() if found.kind == "file"] == [f"{deep}/file"]


def test_a_root_may_be_named_through_a_link_but_not_replaced(tmp_path: Path) -> None:
    for name in ("one", "two"):
        private_directory(tmp_path / name)
        Root(tmp_path / name).write("file", name.encode())
    (tmp_path / "link").symlink_to("one")
    root = Root(tmp_path / "link")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("two")
    assert root.read("file") == b"one"
    (tmp_path / "one").rename(tmp_path / "moved")
    (tmp_path / "two").rename(tmp_path / "one")
    with pytest.raises(Unsafe, match="not the directory it was"):
        root.read("file")
    with pytest.raises(Unsafe):
        Root(tmp_path / "one" / "file")


def test_nothing_stays_open(root: Root) -> None:
    def descriptors() -> int:
        return len(os.listdir("/dev/fd"))

    before = descriptors()
    for path in ("a/b/file", "a/out/secret", "a", "a/b", "none", "a/secret", "a/b/file/x"):
        for use in (use for name, use in USES.items() if name not in ("remove", "make_directory")):
            try:
                use(root, path)
            except (Unsafe, FileNotFoundError):
                continue
    assert descriptors() == before


def swap(stop: threading.Event, *steps: tuple[Path, Path]) -> None:
    """Rename back and forth until told to stop."""
    for source, target in cycle(steps):
        if stop.is_set():
            return
        os.rename(source, target)


@pytest.mark.parametrize("position", ["directory", "file"])
def test_whoever_swaps_links_in_meanwhile_wins_no_escape(tmp_path: Path, position: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(b"secret")
    root = Root(private_directory(tmp_path / "root"))
    root.make_directory("d")
    root.write("d/file", b"inside")
    (root.path / "link-directory").symlink_to(tmp_path / "outside")
    (root.path / "link-file").symlink_to(tmp_path / "outside" / "file")
    true = root.path / ("d" if position == "directory" else "d/file")
    link, aside = root.path / f"link-{position}", root.path / "aside"
    stop = threading.Event()
    swapper = threading.Thread(
        target=swap, args=(stop, (true, aside), (link, true), (true, link), (aside, true))
    )
    swapper.start()
    try:
        seen = race(root, seconds=0.7, writing=position == "directory")
    finally:
        stop.set()
        swapper.join()
    assert seen["refused"], "the race never happened"
    assert set(seen) <= {"refused", b"inside"}
    assert {each.name: each.read_bytes() for each in (tmp_path / "outside").iterdir()} == {
        "file": b"secret"
    }


def race(root: Root, seconds: float, writing: bool) -> dict[str | bytes, int]:
    seen: dict[str | bytes, int] = {"refused": 0}
    end = monotonic() + seconds
    while monotonic() < end:
        try:
            text = root.read("d/file")
            seen[text] = seen.get(text, 0) + 1
            if writing:
                root.write("d/file", b"inside")
                root.write("d/new", b"inside")
        except (Unsafe, FileNotFoundError) as error:
            seen["refused"] += isinstance(error, Unsafe)
    return seen
