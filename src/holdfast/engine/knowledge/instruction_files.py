"""Finding and reading the instruction files of a directory.

Rule 1: a project is its repository. Files above the working directory up to its root are read at
        once, those of a directory below it once something beneath that was touched, rules with
        `paths:` once a path that matches was.
Rule 2: nothing outside of the project is opened for a file of the project, unless the user approved
        that very path. The user's own files, and those of the machine, may import what they like.
Rule 3: a file of the project acts where its content is approved. Where it has changed since, what
        was approved goes on acting for as long as this reader lives.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from holdfast.core.knowledge import frontmatter
from holdfast.core.knowledge.frontmatter import Document
from holdfast.core.knowledge.hidden_unicode import cleaned
from holdfast.core.knowledge.imports import DEEPEST, MOST, Import, imports
from holdfast.core.knowledge.instructions import (
    LOCAL,
    MOST_FILES,
    NAMES,
    RULES,
    InstructionFile,
    Level,
    State,
    ordered,
)
from holdfast.core.knowledge.rules import matches
from holdfast.core.knowledge.trust import Trusting
from holdfast.core.tokens.estimate import estimate
from holdfast.engine.knowledge.safe_read import SafeText, inside, read_text
from holdfast.engine.knowledge.trust import trusted
from holdfast.errors import HoldfastError, Unsafe
from holdfast.files import Found, Root, config_home, project_root
from holdfast.gitignore import Ignoring

MANAGED: Final = "/etc/holdfast"
"""Where whoever manages the machine puts its policy."""

MOST_TOUCHED: Final = 1_000
"""So many directories are looked into because something in them was touched."""

MOST_RULES: Final = 2_000
"""So many names are looked at for rules, in one directory of them."""

WRITABLE: Final = 0o022


class OwnPlaces(Struct, frozen=True, kw_only=True):
    """Where the files are that belong to no project."""

    managed: str = MANAGED
    user: tuple[str, ...] = ()
    """Directories of the user's: Holdfast's own first."""
    home: str = ""


def own_places() -> OwnPlaces:
    """Those of this machine and this user: ours, and those of Claude Code and Codex."""
    home = Path.home()
    claude = os.environ.get("CLAUDE_CONFIG_DIR") or str(home / ".claude")
    codex = os.environ.get("CODEX_HOME") or str(home / ".codex")
    return OwnPlaces(user=(str(config_home()), claude, codex), home=str(home))


class InstructionReader:
    """Reads the instruction files of one directory; a file that has not changed is read once."""

    def __init__(
        self,
        directory: str | os.PathLike[str],
        trust: Trusting = "ask",
        places: OwnPlaces | None = None,
    ) -> None:
        self.directory = os.path.realpath(directory)
        self.root = Root(project_root(self.directory))
        self.trust: Trusting = trust
        self.places = places or own_places()
        self.approved: dict[str, SafeText] = {}
        """What acted last, by the path that approvals name."""
        self.active: dict[str, str] = {}
        """Rules that a path has matched, and which one."""
        self.entered: dict[str, str] = {}
        """Directories below the working directory, and the path that was touched in each."""
        self.fresh: list[str] = []
        """What was touched since the files were read last."""
        self._held: dict[str, tuple[tuple[int, ...], SafeText]] = {}

    def touch(self, path: str) -> None:
        """A path was read or changed: relative to the working directory, or in full."""
        place = Path(os.path.normpath(os.path.join(self.directory, path)))
        if not place.is_relative_to(self.root.path) or place == self.root.path:
            return
        name = place.relative_to(self.root.path).as_posix()
        self.fresh.append(name)
        here = set(self.chain())
        for one in (name, *map(str, Path(name).parents)):
            if one not in here and len(self.entered) < MOST_TOUCHED:
                self.entered.setdefault(one, name)

    def chain(self) -> list[str]:
        """The directories from the root of the project to the working directory."""
        place = Path(self.directory).relative_to(self.root.path)
        return [str(one) for one in (*reversed(place.parents), place)] if place.parts else ["."]

    def files(self) -> tuple[InstructionFile, ...]:
        """Every instruction file there is, and whether it acts."""
        return _Gathering(self).all()

    def read(self, path: str) -> SafeText:
        """A file of the project, or the one outside of it that is named in full."""
        if os.path.isabs(path):
            place = os.path.realpath(path)
            return self.resolved(Root(os.path.dirname(place)), os.path.basename(place))
        return self.resolved(self.root, inside(self.root, path))

    def resolved(self, root: Root, name: str) -> SafeText:
        """A file beneath a root, no link on the way to it; it is opened where it has changed."""
        place = os.path.join(root.path, name)
        seen = _signature(os.lstat(place))
        if place not in self._held or self._held[place][0] != seen:
            self._held[place] = (seen, read_text(root, name))
        return self._held[place][1]


class _Way(Struct, frozen=True, kw_only=True):
    """How a file was come to."""

    level: Level
    why: str = ""
    base: str = "."
    """The directory that the globs of a rule are relative to."""
    importer: str = ""
    depth: int = 0
    live: bool = True
    """Whether who imports it acts."""


class _Gathering:
    """One look at all files."""

    def __init__(self, reader: InstructionReader) -> None:
        self.reader, self.root = reader, reader.root
        self.trusted = trusted(self.root.path)
        self.found: dict[str, InstructionFile] = {}
        self.live: set[str] = set()
        """Places that were met from where they act; others are looked at again from there."""

    def all(self) -> tuple[InstructionFile, ...]:
        self._managed()
        *above, here = self.reader.chain()
        for name in above:
            self._directory(name, "it is above the working directory")
        self._directory(here, "it is in the working directory")
        for name, touched in sorted(self.reader.entered.items()):
            if os.path.isdir(self.root.path / name):
                self._directory(name, f"{touched} was touched")
        for place in self.reader.places.user:
            self._user(place)
        self.reader.fresh = []
        return ordered(self.found.values())

    def _managed(self) -> None:
        for path in _there(self.reader.places.managed):
            if why := _not_managed(path):
                self._refuse(path, why, _Way(level="managed"))
            else:
                self._own(path, _Way(level="managed", why="it is the policy of this machine"))

    def _user(self, place: str) -> None:
        """The files of one directory of the user's."""
        for path in _there(place):
            self._own(path, _Way(level="user", why="it is the user's own"))
        with suppress(OSError, Unsafe):
            root, way = Root(place), _Way(level="user", why="it is a rule of the user's own")
            for name in self._rules(root, "rules", way):
                self._own(str(root.path / name), way)

    def _directory(self, name: str, why: str) -> None:
        """The files of one directory of the project."""
        for one in NAMES:
            self._project(_join(name, one), _Way(level="project", why=why))
        way = _Way(level="rule", why=why, base=name)
        for rules in RULES:
            for path in self._rules(self.root, _join(name, rules), way):
                self._project(path, way)
        for path in (_join(name, one) for one in LOCAL):
            self._project(path, _Way(level="local", why=why + self._shared(path)))

    def _rules(self, root: Root, place: str, way: _Way) -> list[str]:
        """The rule files beneath a directory, also through links that stay inside."""
        found, met, pending, left = list[str](), set[str](), [place], MOST_RULES
        while pending and os.path.lexists(root.path / place):
            try:
                one = inside(root, pending.pop(0))
                if one in met or not os.path.isdir(root.path / one):
                    continue
                met.add(one)
                entries = root.listing(one, left)
            except (HoldfastError, OSError) as error:
                self._refuse(place, str(error), way)
                continue
            left -= len(entries)
            files = [entry.path for entry in entries if entry.path.endswith(".md")]
            found += files
            others = {entry.path for entry in entries if entry.kind in ("directory", "symlink")}
            pending += sorted(others.difference(files))
        return sorted(found)

    def _shared(self, path: str) -> str:
        """That git does not ignore a file which a person keeps to themselves."""
        if not os.path.lexists(self.root.path / path):
            return ""
        ignoring = Ignoring(self.root)
        own = ignoring(Found(path, "file", os.lstat(self.root.path / path)))
        if own or not ignoring.repository:
            return ""
        return "; git does not ignore it, so it may be committed"

    def _project(self, path: str, way: _Way) -> None:
        """A file of the project, where there is one."""
        if not os.path.lexists(self.root.path / path):
            return
        if not path.isprintable():  # it would be said to a model as it is
            why = "its name holds characters that cannot be printed; rename it"
            self._refuse(cleaned(repr(path)), why, way)
            return
        try:
            place = inside(self.root, path)
        except Unsafe:
            self._outside(os.path.realpath(self.root.path / path), way)
            return
        self._read(place, way)

    def _outside(self, place: str, way: _Way) -> None:
        """A file outside of the project: opened only where the user approved its path."""
        if self.trusted.known(place) and self.reader.trust != "never":
            self._read(place, way)
        elif not self._met(place, live=way.live):
            why = "it lies outside of the project and was not opened; approve it by its path"
            self._add(InstructionFile(level=way.level, path=place, place=place, state="outside",
                                      why=why, importer=way.importer))  # fmt: skip

    def _read(self, path: str, way: _Way) -> None:
        """Read a file and judge whether it acts; then what it imports."""
        if self._met(path, live=way.live):
            return
        try:
            own = not os.path.isabs(path)
            read = self.reader.resolved(self.root, path) if own else self.reader.read(path)
        except (HoldfastError, OSError) as error:
            self._refuse(path, str(error), way)
            return
        state, acts, newer = self._state(path, read)
        head = frontmatter.read(acts.text) if way.level == "rule" else Document({}, acts.text)
        globs = head.list("paths")
        why, waits = self._matched(path, globs, way)
        if state == "loaded" and (waits or not way.live):
            state = "waiting"
        self._add(
            InstructionFile(
                level=way.level, path=path, place=str(self.root.path / path), state=state,
                why=_why(state, why, way, self.reader.trust), text=head.body,
                tokens=estimate(head.body), digest=read.digest, newer=newer, paths=globs,
                importer=way.importer, hidden=read.hidden,
            )
        )  # fmt: skip
        if state == "loaded":
            self.reader.approved[path] = acts
        for one in self._named(acts.text, str(self.root.path / path), way):
            self._imported(one, _Way(level=way.level, importer=path, depth=way.depth + 1,
                                     live=state == "loaded"))  # fmt: skip

    def _imported(self, one: Import, way: _Way) -> None:
        """A file that a file of the project imports."""
        place = Path(one.place)
        if not place.is_relative_to(self.root.path):
            self._outside(os.path.realpath(one.place), way)
            return
        name = place.relative_to(self.root.path).as_posix()
        if os.path.islink(place) or self._is_file(name):
            self._project(name, way)
        elif one.plain:
            self._refuse(name, f"{way.importer} imports it, and there is no such file", way)

    def _is_file(self, name: str) -> bool:
        try:
            return stat.S_ISREG(self.root.stat(inside(self.root, name)).st_mode)
        except (HoldfastError, OSError):
            return False

    def _own(self, path: str, way: _Way) -> None:
        """A file of the machine's or the user's own: it is trusted for where it is."""
        place = os.path.realpath(path)
        if self._met(place, live=True):
            return
        try:
            read = self.reader.read(place)
        except (HoldfastError, OSError) as error:
            self._refuse(path, str(error), way)
            return
        head = frontmatter.read(read.text)
        globs = head.list("paths")
        why, waits = self._matched(place, globs, way)
        body = head.body if globs else read.text
        self._add(
            InstructionFile(
                level=way.level, path=path, place=path, state="waiting" if waits else "loaded",
                why=f"{way.importer} imports it" if way.importer else why,
                text=body, tokens=estimate(body), digest=read.digest, paths=globs,
                importer=way.importer, hidden=read.hidden,
            ),
            place,
        )  # fmt: skip
        for one in self._named(read.text, place, way):
            below = _Way(level=way.level, importer=path, depth=way.depth + 1)
            if os.path.isfile(one.place):
                self._own(one.place, below)
            elif one.plain:
                self._refuse(one.place, f"{path} imports it, and there is no such file", below)

    def _named(self, text: str, path: str, way: _Way) -> tuple[Import, ...]:
        """The imports of a file that are followed; what is beyond the bounds is said."""
        named = imports(text, path, self.reader.places.home)
        if way.depth >= DEEPEST:
            for one in (one for one in named if one.plain):
                why = f"{path} imports it, more than {DEEPEST} imports deep; name it further up"
                self._refuse(one.place, why, way)
            return ()
        if len(named) > MOST:
            why = f"it names {len(named)} files, and only the first {MOST} are read; name fewer"
            self._refuse(f"{path}: imports", why, way)
        return named[:MOST]

    def _state(self, path: str, read: SafeText) -> tuple[State, SafeText, bool]:
        """Whether a file acts, with which content, and whether there is a newer one."""
        if self.reader.trust == "always" and not os.path.isabs(path):
            return "loaded", read, False
        if self.reader.trust == "never":
            return "untrusted", read, False
        verdict = self.trusted.of(path, read.digest)
        if verdict == "trusted":
            return "loaded", read, False
        before = self.reader.approved.get(path)
        if before and self.trusted.of(path, before.digest) == "trusted":
            return "loaded", before, verdict == "unknown"
        if verdict == "declined":
            return "declined", read, False
        return ("changed" if self.trusted.known(path) else "untrusted"), read, False

    def _matched(self, path: str, globs: tuple[str, ...], way: _Way) -> tuple[str, bool]:
        """Why a rule acts, and whether it waits for a path that is like one of its globs."""
        if not globs:
            return way.why, False
        active, start = self.reader.active, "" if way.base == "." else f"{way.base}/"
        for one in self.reader.fresh:
            if one.startswith(start) and matches(globs, one[len(start) :]):
                active.setdefault(path, one)
        if path in active:
            return f"{active[path]} was touched", False
        return f"no path like {', '.join(globs)} was touched yet", True

    def _met(self, place: str, *, live: bool) -> bool:
        """Whether a file was met already; else it is now."""
        if place in self.live or (place in self.found and not live):
            return True
        if len(self.found) >= MOST_FILES and place not in self.found:
            why = f"there are more than {MOST_FILES} instruction files; the rest is not read"
            self._refuse("…", why, _Way(level="local"))
            return True
        if live:
            self.live.add(place)
        return False

    def _refuse(self, path: str, why: str, way: _Way) -> None:
        if path not in self.found and len(self.found) <= 2 * MOST_FILES:
            self._add(
                InstructionFile(
                    level=way.level, path=path, place=os.path.join(self.root.path, path),
                    state="refused", why=why, importer=way.importer,
                )
            )  # fmt: skip

    def _add(self, one: InstructionFile, place: str = "") -> None:
        self.found[place or one.path] = one


def _why(state: State, why: str, way: _Way, trust: Trusting) -> str:
    """Why a file acts, or what it waits for."""
    if state == "loaded" or (state == "waiting" and way.live):
        return f"{way.importer} imports it" if way.importer else why
    if state == "waiting":
        return f"{way.importer} imports it, which does not act"
    if trust == "never":
        return "nothing of a project is trusted here"
    return {
        "untrusted": "it is not approved yet",
        "changed": "it has changed since it was approved",
        "declined": "it was declined",
    }.get(state, why)


def _there(place: str) -> list[str]:
    """The instruction files of a directory that belongs to no project."""
    names = [one for one in NAMES if "/" not in one]
    return [path for name in names if os.path.lexists(path := os.path.join(place, name))]


def _not_managed(path: str) -> str:
    """Why a file is no policy of the machine: who may write it could be anybody."""
    for one in (path, os.path.dirname(path)):
        try:
            found = os.stat(one)
        except OSError as error:
            return str(error)
        if found.st_uid not in (0, os.geteuid()) or found.st_mode & WRITABLE:
            return f"{one} can be written by others than root; chown it to root and chmod go-w it"
    return ""


def _join(directory: str, name: str) -> str:
    return name if directory == "." else f"{directory}/{name}"


def _signature(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
