"""Private files, atomic writes and confined paths, tried on a real file system."""

import errno
import logging
import os
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from holdfast import files
from holdfast.errors import Unsafe
from holdfast.files import UNFINISHED, Root, private_directory, private_file, write_atomic

UMASKS = pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def masked() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


# ---- private directories and files


@UMASKS
def test_a_private_directory_and_its_missing_parents_are_ours_alone(
    tmp_path: Path, masked: Callable[[int], int], umask: int
) -> None:
    masked(umask)
    made = private_directory(tmp_path / "a" / "b" / "c")
    assert [mode(each) for each in (made, *made.parents[:2])] == [0o700] * 3
    assert private_directory(made) == made


def test_an_open_directory_of_ours_is_tightened_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    with caplog.at_level(logging.WARNING):
        private_directory(tmp_path / "data")
    assert mode(tmp_path / "data") == 0o700
    assert "0755" in caplog.text


@pytest.mark.parametrize("loose", [0o777, 0o1777, 0o770, 0o702])
def test_a_directory_others_can_fill_is_refused_and_left_as_it_was(
    tmp_path: Path, loose: int
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(loose)
    with pytest.raises(Unsafe, match="open to others"):
        private_directory(tmp_path / "shared")
    assert mode(tmp_path / "shared") == loose


def test_a_home_directory_is_never_tightened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / "me").mkdir(parents=True, mode=0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "me"))
    for place in (tmp_path / "home", tmp_path / "home" / "me"):
        place.chmod(0o755)
        with pytest.raises(Unsafe, match="more than Holdfast"):
            private_directory(place)
        assert mode(place) == 0o755


@pytest.mark.parametrize("make", [private_directory, private_file])
def test_what_belongs_to_someone_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Path]
) -> None:
    made = make(tmp_path / "theirs")
    monkeypatch.setattr(os, "geteuid", lambda: made.stat().st_uid + 1)
    with pytest.raises(Unsafe, match="another user"):
        make(made)


@pytest.mark.parametrize("make", [private_directory, private_file])
def test_a_link_in_the_place_of_something_private_is_refused(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    make(tmp_path / "real")
    for target in ("real", "nowhere"):
        (tmp_path / f"link-{target}").symlink_to(target)
        with pytest.raises(Unsafe):
            make(tmp_path / f"link-{target}")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("make", [private_directory, private_file])
def test_a_file_system_that_ignores_modes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Path]
) -> None:
    place = make(tmp_path / "here")
    place.chmod(0o755 if place.is_dir() else 0o644)
    monkeypatch.setattr(os, "fchmod", lambda *_: None)
    monkeypatch.setattr(os, "chmod", lambda *_: None)
    with pytest.raises(Unsafe, match="without permissions"):
        make(place)


def test_a_private_directory_is_not_a_file_and_a_private_file_not_a_directory(
    tmp_path: Path,
) -> None:
    with pytest.raises(Unsafe, match="no directory"):
        private_directory(private_file(tmp_path / "file"))
    with pytest.raises(Unsafe, match="is a directory"):
        private_file(private_directory(tmp_path / "directory"))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(Unsafe, match="special file"):
        private_file(tmp_path / "fifo")


@UMASKS
def test_a_private_file_is_made_or_tightened(
    tmp_path: Path, masked: Callable[[int], int], umask: int, caplog: pytest.LogCaptureFixture
) -> None:
    masked(umask)
    assert mode(private_file(tmp_path / "new")) == 0o600
    assert caplog.text == "", "it was open for a moment"
    (tmp_path / "old").write_bytes(b"kept")
    (tmp_path / "old").chmod(0o666)
    assert mode(private_file(tmp_path / "old")) == 0o600
    assert (tmp_path / "old").read_bytes() == b"kept"


def test_a_private_file_with_a_second_name_is_refused(tmp_path: Path) -> None:
    os.link(private_file(tmp_path / "one"), tmp_path / "two")
    with pytest.raises(Unsafe, match="hard link"):
        private_file(tmp_path / "one")


@UMASKS
def test_everything_sqlite_makes_beside_a_private_file_is_private(
    tmp_path: Path, masked: Callable[[int], int], umask: int
) -> None:
    masked(umask)
    home = private_directory(tmp_path / "data")
    connection = apsw.Connection(str(private_file(home / "store.db")))
    connection.execute("pragma journal_mode=wal; create table t(x)").fetchall()
    found = {each.name: mode(each) for each in home.iterdir()}
    connection.close()
    assert found == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}


def test_looking_at_a_database_in_use_does_not_drop_its_locks(tmp_path: Path) -> None:
    place = private_file(tmp_path / "store.db")
    connection = apsw.Connection(str(place))
    connection.execute("create table t(x); begin exclusive; insert into t values (1)")
    private_file(place)
    other = f"import apsw; apsw.Connection({str(place)!r}).execute('insert into t values (2)')"
    ended = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True)
    connection.execute("commit")
    connection.close()
    assert "BusyError" in ended.stderr


# ---- atomic writes


@UMASKS
def test_a_written_file_is_private_and_whole(
    tmp_path: Path, masked: Callable[[int], int], umask: int
) -> None:
    masked(umask)
    target = tmp_path / "settings"
    write_atomic(target, b"one")
    write_atomic(target, (piece for piece in (b"tw", bytearray(b"o"), memoryview(b"!"))))
    assert (target.read_bytes(), mode(target)) == (b"two!", 0o600)
    write_atomic(target, b"", mode=0o4755)
    assert (target.read_bytes(), mode(target)) == (b"", 0o755)
    assert os.listdir(tmp_path) == ["settings"]


@pytest.mark.parametrize("call", ["fsync", "replace", "write", "fchmod"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write_atomic(tmp_path / "kept", b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(OSError, match="No space left") as raised:
            write_atomic(tmp_path / "kept", b"new")
    assert raised.value.filename == str(tmp_path / "kept")
    assert (tmp_path / "kept").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]


def test_a_write_the_kernel_cuts_short_leaves_the_old_file(tmp_path: Path) -> None:
    write_atomic(tmp_path / "kept", b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        with pytest.raises(OSError, match="too large") as raised:
            Root(tmp_path).write("kept", b"x" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert raised.value.errno == errno.EFBIG
    assert (tmp_path / "kept").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]


def test_a_source_that_breaks_midway_leaves_the_old_file(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    write_atomic(tmp_path / "kept", b"old")
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "kept", broken())
    assert (tmp_path / "kept").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]


def test_an_unfinished_write_is_private_and_beside_its_target(tmp_path: Path) -> None:
    seen: list[tuple[bool, int]] = []

    def watched() -> Iterator[bytes]:
        (only,) = tmp_path.iterdir()
        seen.append((only.name.startswith(UNFINISHED), mode(only)))
        yield b"done"

    write_atomic(tmp_path / "file", watched(), mode=0o644)
    assert seen == [(True, 0o600)]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP])
def test_a_platform_that_cannot_sync_directories_still_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    sync = os.fsync

    def files_only(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(code, os.strerror(code))
        sync(file)

    monkeypatch.setattr(os, "fsync", files_only)
    write_atomic(private_directory(tmp_path / "d") / "file", b"whole")
    assert (tmp_path / "d" / "file").read_bytes() == b"whole"


def test_a_directory_that_fails_to_sync_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def worn_out(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", worn_out)
    with pytest.raises(OSError, match="Input/output"):
        write_atomic(tmp_path / "file", b"not safe yet")


@pytest.mark.parametrize(
    "make",
    [private_directory, private_file, lambda place: Root(place.parent).make_directory(place.name)],
)
def test_a_new_name_is_made_to_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object]
) -> None:
    synced: set[int] = set()
    monkeypatch.setattr(os, "fsync", lambda file: synced.add(os.fstat(file).st_ino))
    make(tmp_path / "new")
    assert tmp_path.stat().st_ino in synced


def test_only_a_plain_file_is_replaced(tmp_path: Path) -> None:
    write_atomic(tmp_path / "real", b"mine")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    for name in ("link", "directory", "fifo"):
        with pytest.raises(Unsafe, match="not a file"):
            write_atomic(tmp_path / name, b"x")
    with pytest.raises(FileNotFoundError):
        write_atomic(tmp_path / "absent" / "file", b"x")
    assert (tmp_path / "real").read_bytes() == b"mine"


def test_writing_to_a_hard_link_leaves_the_other_name_alone(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").write_bytes(b"theirs")
    os.link(tmp_path / "outside", tmp_path / "root" / "inside")
    Root(tmp_path / "root").write("inside", b"ours")
    assert (tmp_path / "outside").read_bytes() == b"theirs"


# ---- where things are


def test_the_data_directory_follows_the_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    default = Path("/home/me/.local/share/holdfast")
    assert files.data_home({"XDG_DATA_HOME": "/data"}) == Path("/data/holdfast")
    assert [files.data_home({"XDG_DATA_HOME": bad}) for bad in ("", "data", "./x")] == [default] * 3
    assert files.data_home({}) == default
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    assert files.data_home() == Path("/elsewhere/holdfast")


MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /mnt rw shared:2 master:1 - tmpfs tmpfs rw
31 30 0:41 / /mnt/team\040files\134x rw - nfs4 server:/export rw,vers=4.2
32 22 0:42 / /mnt/s rw- - fuse.sshfs me@host:/ rw
33 22 0:43 / /mnt/same rw - ext4 /dev/sdb rw
34 33 0:44 / /mnt/same rw - 9p host rw
35 22 0:45 / /mnt/crypt rw - fuse.gocryptfs /secret rw
this line is torn"""


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/", "ext4", None),
        ("/mnt", "tmpfs", None),
        ("/mnt/team files\\x/deep/er", "nfs4", "nfs4"),
        ("/mnt/team files\\xy", "tmpfs", None),
        ("/mnt/s/file", "fuse.sshfs", "fuse.sshfs"),
        ("/mnt/same/file", "9p", "9p"),
        ("/mnt/crypt/file", "fuse.gocryptfs", None),
    ],
)
def test_the_deepest_mount_above_a_path_says_its_kind(
    path: str, kind: str, network: str | None
) -> None:
    assert files.filesystem_kind(path, MOUNTS) == kind
    assert files.network_filesystem(path, MOUNTS) == network


def test_where_mounts_are_unknown_so_is_the_kind() -> None:
    assert files.filesystem_kind("/x", "") is None
    assert files.network_filesystem("/x", "") is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists its mounts in /proc")
def test_this_machine_knows_its_own_kinds() -> None:
    assert files.filesystem_kind("/proc/self") == "proc"


@pytest.mark.parametrize(
    "kind", ["nfs", "cifs", "smb3", "afs", "ceph", "lustre", "gfs2", "beegfs", "glusterfs"]
)
def test_kinds_that_other_machines_change_are_known(kind: str) -> None:
    assert files.network_filesystem("/x", f"1 0 0:1 / / rw - {kind} source rw\n") == kind


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the address of a socket may have a hundred bytes only
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
    with pytest.raises(Unsafe, match="socket"):
        Root(tmp_path).read("socket")


def test_the_settings_directory_follows_the_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert files.config_home({"XDG_CONFIG_HOME": "/etc/me"}) == Path("/etc/me/holdfast")
    for ignored in ({}, {"XDG_CONFIG_HOME": "here"}):
        assert files.config_home(ignored) == Path("/home/me/.config/holdfast")


def test_a_project_is_the_repository_around_it_or_the_directory_itself(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert files.project_root(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    (tmp_path / "a" / ".git").write_text("gitdir: elsewhere")
    assert files.project_root(tmp_path / "a" / "b") == tmp_path / "a"


def test_an_error_names_one_path_and_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        Root(tmp_path).read("none")
    assert str(raised.value) == f"[Errno 2] No such file or directory: '{tmp_path / 'none'}'"
    with pytest.raises(FileNotFoundError) as raised:
        write_atomic(tmp_path / "none" / "file", b"")
    assert "None" not in str(raised.value)


@pytest.mark.parametrize("target", ["inside", "../outside", "missing"])
def test_a_file_is_never_opened_through_a_link(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside").write_bytes(b"secret")
    root = tmp_path / "root"
    root.mkdir()
    (root / "inside").write_bytes(b"plain")
    (root / "link").symlink_to(target)
    with pytest.raises(Unsafe, match="is a symbolic link"):
        Root(root).open("link")
    with pytest.raises(Unsafe, match="is a symbolic link"):
        Root(root).read("link")
    assert Root(root).read("inside") == b"plain"
