"""Private files, atomic writes, and paths confined beneath a root: the one way to the file system.

What must not be used raises `Unsafe`; what just failed stays the `OSError` it was, naming its path.
"""

import errno
import logging
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal, NamedTuple

from holdfast.errors import Unsafe

LARGEST_FILE = 64 << 20
"""How many bytes `Root.read` and `Root.chunks` accept unless told otherwise."""
MOST_NAMES = 100_000
"""How many names `Root.listing` and `Root.walk` accept unless told otherwise."""
UNFINISHED = ".holdfast-"
"""How the names of unfinished writes begin; one that a crash left behind may be removed."""
NETWORK_FILESYSTEMS = frozenset(
    """
    9p acfs afs beegfs blobfuse2 ceph ceph-fuse cifs coda curlftpfs davfs davfs2 gcsfuse gfs2
    glusterfs gpfs grpcfuse gvfsd-fuse juicefs lustre mfs mount-s3 ncpfs nfs nfs4 ocfs2 orangefs
    osxfs panfs prl_fs pvfs2 rclone s3fs smb3 smbfs smbnetfs sshfs vboxsf virtiofs vmhgfs-fuse
    """.split()  # noqa: SIM905 (a literal would take a line for each)
)
"""File systems another machine may change meanwhile (to a guest, its host is another machine)."""
AnyPath = str | os.PathLike[str]
Bytes = bytes | bytearray | memoryview
Kind = Literal["file", "directory", "symlink", "special file", "closed directory"]

# The fifth field, and the first after the dash; how many lie between varies (proc(5)).
_MOUNT = r"^(?:[^ \n]+ ){4}([^ \n]+)(?: [^ \n]+)+? - ([^ \n]+)"
# Windows lacks both; importing works there, and using fails for want of `dir_fd`.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
logger = logging.getLogger(__name__)


def data_home(environ: Mapping[str, str] | None = None) -> Path:
    """Where Holdfast keeps what it keeps."""
    return xdg_home("XDG_DATA_HOME", ".local/share", environ)


def config_home(environ: Mapping[str, str] | None = None) -> Path:
    """Where the user's settings are."""
    return xdg_home("XDG_CONFIG_HOME", ".config", environ)


def xdg_home(name: str, usual: str, environ: Mapping[str, str] | None = None) -> Path:
    """Where things of one kind are, by the XDG specification: a relative value is ignored."""
    told = (os.environ if environ is None else environ).get(name, "")
    return (Path(told) if os.path.isabs(told) else Path.home() / usual) / "holdfast"


def project_root(directory: AnyPath) -> Path:
    """The repository a directory belongs to, or the directory itself; only names are looked at."""
    place = Path(os.path.abspath(directory))
    return next((one for one in (place, *place.parents) if os.path.lexists(one / ".git")), place)


def filesystem_kind(path: AnyPath, mountinfo: str | None = None) -> str | None:
    """The kind of file system a path lies on ("ext4", "nfs4"), or None where nobody can say."""
    if mountinfo is None:
        known = Path("/proc/self/mountinfo")  # only Linux has it
        mountinfo = known.read_text("utf-8", "surrogateescape") if known.exists() else ""
    place, deepest, kind = Path(os.path.realpath(path)), 0, None
    for written, found in re.findall(_MOUNT, mountinfo, re.MULTILINE):
        # Blank, tab, newline and backslash are written as three octal digits (proc(5)).
        point = Path(re.sub(r"\\([0-7]{3})", lambda digits: chr(int(digits[1], 8)), written))
        # A later mount on the same point hides the earlier one, hence >=.
        if place.is_relative_to(point) and len(point.parts) >= deepest:
            deepest, kind = len(point.parts), found
    return kind


def network_filesystem(path: AnyPath, mountinfo: str | None = None) -> str | None:
    """The kind, if it is one where locks and shared memory cannot be relied on; else None."""
    kind = filesystem_kind(path, mountinfo)
    return kind if kind and kind.removeprefix("fuse.") in NETWORK_FILESYSTEMS else None


def private_directory(path: AnyPath) -> Path:
    """Make a directory of Holdfast's alone, or shut everyone else out of an existing one."""
    place = Path(path).absolute()
    with _told(place):
        missing = [each for each in (place, *place.parents) if not os.path.lexists(each)]
        for each in reversed(missing):
            with suppress(FileExistsError):  # someone made it meanwhile
                os.mkdir(each, 0o700)
                os.chmod(each, 0o700)
            sync_directory(each.parent)
        with _opened(place) as directory:
            _shut(place, lambda: os.fstat(directory), lambda: os.fchmod(directory, 0o700))
    return place


def private_file(path: AnyPath) -> Path:
    """Make a file only we may read, or make one so; SQLite's -wal and -shm then take its mode."""
    place = Path(path).absolute()
    with _told(place):
        with suppress(FileExistsError):
            _fill(os.open(place, _NEW, 0o600), b"", 0o600)  # the umask may have left us nothing
            sync_directory(place.parent)
        # From here on looked at by name, never opened: closing any descriptor of a database drops
        # the locks this process holds on it (https://sqlite.org/howtocorrupt.html).
        found = os.lstat(place)
        _check_kind(place, found, "file")
        # A database under two names has two journals, and they differ (the same page).
        if found.st_nlink != 1:
            raise Unsafe(str(place), "has a second name (a hard link)", "copy it and use the copy")
        _shut(place, lambda: os.lstat(place), lambda: os.chmod(place, 0o600))
    return place


@contextmanager
def locked(path: AnyPath, seconds: float = 10.0) -> Iterator[None]:
    """Hold a file's lock against every other process; the kernel frees it where we die."""
    import fcntl

    place = private_file(path)
    file, end = os.open(place, os.O_RDWR | _NOFOLLOW), time.monotonic() + seconds
    try:
        while not _tried(file, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if time.monotonic() > end:
                do = "end the process that holds it, or try again"
                raise Unsafe(str(place), f"has been locked for {seconds:g} s", do)
            time.sleep(0.01)
        yield
    finally:
        os.close(file)


def _tried(file: int, how: int) -> bool:
    import fcntl

    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    return True


def write_atomic(path: AnyPath, data: Bytes | Iterable[Bytes], mode: int = 0o600) -> None:
    """Replace a file so that any reader, and any crash, meets the old bytes or the new, whole."""
    place = Path(path).absolute()
    with _told(place), _opened(place.parent, follow=True) as directory:
        _replace(place, directory, data, mode)


class Found(NamedTuple):
    """One name met on a walk; links, devices and what is closed to us are told, never opened."""

    path: str
    kind: Kind
    stat: os.stat_result


class Root:
    """A directory out of which no path given to it can lead, whoever changes it meanwhile.

    Paths are relative and written with `/`; `.` is the root itself. Each directory on the way is
    opened from the one before it, never through a symbolic link, so there is no moment between
    looking and using (CVE-2026-39861, CVE-2026-25724). Only regular files are read or replaced. A
    hard link is a regular file: writing replaces the name here and leaves the other one alone.
    """

    def __init__(self, path: AnyPath) -> None:
        self.path = Path(os.path.realpath(path))
        with _told(self.path), _opened(self.path) as directory:
            self._identity = os.fstat(directory)

    def open(self, relative: AnyPath) -> BinaryIO:
        """A regular file, opened for reading; read it in pieces, for it may be of any size."""
        with self.parent(relative) as (place, directory):
            # Without O_NONBLOCK a FIFO waits for its writer for ever; O_NOCTTY is for terminals.
            flags = os.O_RDONLY | _NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
            file = os.open(place.name, flags, dir_fd=directory)
            try:
                _check_kind(place, os.fstat(file), "file")
                return os.fdopen(file, "rb")
            except BaseException:
                os.close(file)
                raise

    def chunks(self, relative: AnyPath, limit: int = LARGEST_FILE) -> Iterator[bytes]:
        """The bytes of a file, a mebibyte at a time, refusing to go on beyond `limit`."""
        left = limit
        with self.open(relative) as file:
            while chunk := file.read(min(1 << 20, left + 1)):
                left -= len(chunk)
                if left < 0:
                    do = "raise the limit, or read it in pieces"
                    raise Unsafe(str(self.path / relative), f"exceeds {limit:,} bytes", do)
                yield chunk

    def read(self, relative: AnyPath, limit: int = LARGEST_FILE) -> bytes:
        """All bytes of a file that has at most `limit` of them."""
        return b"".join(self.chunks(relative, limit))

    def write(self, relative: AnyPath, data: Bytes | Iterable[Bytes], mode: int = 0o600) -> None:
        """Replace a file atomically; its directory exists already."""
        with self.parent(relative) as (place, directory):
            _replace(place, directory, data, mode)

    def stat(self, relative: AnyPath) -> os.stat_result:
        """What is known of a regular file or a directory."""
        with self.parent(relative) as (place, directory):
            return _stat(place, directory, "file", "directory")

    def listing(self, relative: AnyPath = ".", limit: int = MOST_NAMES) -> list[Found]:
        """What a directory holds, in the order of names."""
        names, held = self.names(relative), list[Found]()
        with self.directory(names) as directory, os.scandir(directory) as entries:
            for entry in entries:
                if len(held) == limit:
                    do = "name a smaller directory, or raise the limit"
                    raise Unsafe(str(self.path / relative), f"exceeds {limit:,} names", do)
                with suppress(FileNotFoundError):  # removed since it was listed
                    found = entry.stat(follow_symlinks=False)
                    held.append(Found("/".join((*names, entry.name)), _kind(found), found))
        return sorted(held)

    def walk(
        self, relative: AnyPath = ".", limit: int = MOST_NAMES,
        skip: Callable[[Found], bool] = lambda found: False,
    ) -> Iterator[Found]:  # fmt: skip
        """Everything beneath a directory but what `skip` names; too much is an error, never cut."""
        pending, met = self.listing(relative, limit)[::-1], 0
        while pending:
            found, met = pending.pop(), met + 1
            if skip(found):
                continue
            yield found
            if found.kind == "directory":
                try:
                    pending += reversed(self.listing(found.path, limit - met - len(pending)))
                except PermissionError:  # whoever walks can tell of it
                    yield found._replace(kind="closed directory")
                except FileNotFoundError:  # removed since it was listed
                    continue

    def remove(self, relative: AnyPath) -> None:
        """Take away a regular file or an empty directory."""
        with self.parent(relative) as (place, directory):
            found = _stat(place, directory, "file", "directory")
            (os.rmdir if stat.S_ISDIR(found.st_mode) else os.unlink)(place.name, dir_fd=directory)
            _sync(directory)

    def make_directory(self, relative: AnyPath, mode: int = 0o700) -> None:
        """Make a directory and those above it, where they are missing."""
        with self.directory(self.names(relative), make=mode):
            pass

    def names(self, relative: AnyPath) -> tuple[str, ...]:
        """The names a path is made of; Unsafe where it could lead nowhere beneath the root."""
        text = os.fspath(relative)
        wrong = {
            "is empty": not text,
            "contains NUL": "\0" in text,
            "is absolute": text.startswith("/"),
            "climbs with '..'": ".." in text.split("/"),
            # Of the surrogates only those stand for bytes that os.fsdecode would make (PEP 383).
            "cannot be a file name": re.search("[\ud800-\udc7f\udd00-\udfff]", text),
        }
        if why := next((why for why in wrong if wrong[why]), ""):
            raise Unsafe(text, why, f"give a path relative to {self.path}, without '..'")
        return PurePosixPath(text).parts

    @contextmanager
    def parent(self, relative: AnyPath) -> Iterator[tuple[Path, int]]:
        """The whole path of something beneath the root, and its directory, opened on the way."""
        if not (names := self.names(relative)):
            raise Unsafe(str(self.path), "is the root itself", "name something in it")
        place = self.path.joinpath(*names)
        with self.directory(names[:-1]) as directory, _told(place):
            yield place, directory

    @contextmanager
    def directory(self, names: tuple[str, ...], make: int | None = None) -> Iterator[int]:
        """A directory, opened from the root through none that is a link."""
        directory, place = self._top(), self.path
        try:
            for name in names:
                place = place / name
                with _told(place):
                    directory, outer = _enter(directory, name, make), directory
                os.close(outer)
            yield directory
        finally:
            os.close(directory)

    def _top(self) -> int:
        with _told(self.path):
            directory = os.open(self.path, _DIRECTORY | _NOFOLLOW)
        if os.path.samestat(os.fstat(directory), self._identity):
            return directory
        os.close(directory)
        raise Unsafe(str(self.path), "is not the directory it was", "open the root again")


@contextmanager
def _told(place: Path) -> Iterator[None]:
    """Say of which whole path an error speaks, and which errors mean that it must not be used."""
    try:
        yield
    except OSError as error:
        if why := _WHY.get(error.errno or 0):
            raise Unsafe(str(place), why, "use a plain file in plain directories") from error
        if not os.path.isabs(str(error.filename)):
            error.filename = str(place)
            del error.filename2  # set to None, it would be told as well
        raise


_WHY = {
    errno.ELOOP: "is a symbolic link",
    # What Linux answers when O_DIRECTORY and O_NOFOLLOW meet a link.
    errno.ENOTDIR: "is, or lies beneath, a symbolic link or something that is no directory",
    errno.ENXIO: "is a socket or a device",
    errno.EOPNOTSUPP: "is a socket or a device",  # the same on macOS
    errno.ENAMETOOLONG: "has too long a name",
    errno.EILSEQ: "cannot be a file name",
}


@contextmanager
def _opened(directory: Path, follow: bool = False) -> Iterator[int]:
    file = os.open(directory, _DIRECTORY | (0 if follow else _NOFOLLOW))
    try:
        yield file
    finally:
        os.close(file)


def _enter(directory: int, name: str, make: int | None) -> int:
    if make is not None:
        with suppress(FileExistsError):
            os.mkdir(name, make, dir_fd=directory)
            _sync(directory)
    return os.open(name, _DIRECTORY | _NOFOLLOW, dir_fd=directory)


def _replace(place: Path, directory: int, data: Bytes | Iterable[Bytes], mode: int) -> None:
    with suppress(FileNotFoundError):
        _stat(place, directory, "file")
    unfinished = UNFINISHED + secrets.token_hex(8)
    file = os.open(unfinished, _NEW, 0o600, dir_fd=directory)
    try:
        _fill(file, data, mode)
        # Renaming replaces the name, so a link put there meanwhile is replaced, not followed.
        os.replace(unfinished, place.name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=directory)
        raise
    _sync(directory)


def _fill(file: int, data: Bytes | Iterable[Bytes], mode: int) -> None:
    """Write everything to a file just made, down to the disk, and close it."""
    try:
        for piece in (data,) if isinstance(data, Bytes) else data:
            rest = memoryview(piece).cast("B")
            while rest:
                rest = rest[os.write(file, rest) :]
        os.fchmod(file, mode & 0o777)
        os.fsync(file)
    finally:
        os.close(file)


def _sync(directory: int) -> None:
    """Make the names in a directory last, which fsync(2) asks for, where the platform can."""
    try:
        os.fsync(directory)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise


def sync_directory(place: Path) -> None:
    """Make the names in a directory last: what was made, renamed or removed there stays so."""
    with _opened(place, follow=True) as directory:
        _sync(directory)


def _stat(place: Path, directory: int, *kinds: Kind) -> os.stat_result:
    found = os.stat(place.name, dir_fd=directory, follow_symlinks=False)
    _check_kind(place, found, *kinds)
    return found


def _kind(found: os.stat_result) -> Kind:
    kinds: dict[int, Kind]
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}
    return kinds.get(stat.S_IFMT(found.st_mode), "special file")


def _check_kind(place: Path, found: os.stat_result, *kinds: Kind) -> None:
    kind, wanted = _kind(found), " or a ".join(kinds)
    if kind not in kinds:
        raise Unsafe(str(place), f"is a {kind}, not a {wanted}", f"name a {wanted}")


def _shut(place: Path, look: Callable[[], os.stat_result], shut: Callable[[], None]) -> None:
    """Take from everyone else what they may do with something of ours, and say so."""
    found = look()
    if found.st_uid != os.geteuid():
        raise Unsafe(str(place), "belongs to another user", "choose a place of your own")
    loose = stat.S_IMODE(found.st_mode)
    if not loose & 0o077:
        return
    # Others may have filled it already; and to root, /tmp is such a directory.
    if loose & 0o022 and stat.S_ISDIR(found.st_mode):
        do = "look at what it holds, then chmod 700 it, or choose another directory"
        raise Unsafe(str(place), f"is open to others for writing (mode {loose:04o})", do)
    if Path.home().is_relative_to(place):
        raise Unsafe(str(place), "holds more than Holdfast's files", "name a directory in it")
    shut()
    # Some file systems accept chmod and ignore it (FAT, Windows drives, some network shares).
    if stat.S_IMODE(look().st_mode) & 0o077:
        raise Unsafe(str(place), "is on a file system without permissions", "choose another disk")
    logger.warning("%s was open to others (mode %04o); it is private now", place, loose)
