"""What the user has approved, in a file of theirs: one decision a line, appended and never changed.

Rule 1: the file is the user's, beside their settings; nothing in a repository is asked.
Rule 2: a line that cannot be read approves nothing.
Rule 3: a decision is on the disk when `decide` returns; two processes may decide at once.
Rule 4: what was approved is kept beside it, so that a change can be shown; nothing acts from there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Final

import msgspec

from holdfast.core.knowledge.trust import Decision, Trusted, in_force
from holdfast.errors import Unsafe
from holdfast.files import Root, config_home, private_directory, private_file, write_atomic

APPROVED: Final = "approved"
"""The directory beside it of the contents that were approved, by their digests."""

LARGEST: Final = 16 << 20
"""A larger file of decisions is an error: it was not written by a person who approves files."""


def trust_file() -> Path:
    """Where the decisions are."""
    return config_home() / "trust.jsonl"


def keep(digest: str, text: str) -> None:
    """Keep a content that was approved."""
    place = private_directory(trust_file().parent / APPROVED)
    write_atomic(place / digest, text.encode("utf-8", "surrogateescape"))


def approved_before(project: str, path: str) -> str:
    """The content of a file that was approved last, as far as it is kept."""
    found = [one for one in decisions() if (one.project, one.path) == (project, path)]
    for one in reversed(found):
        if one.verdict == "withdrawn":
            return ""
        if one.verdict == "trusted":
            with suppress(OSError, Unsafe):
                kept = Root(trust_file().parent / APPROVED).read(one.digest, LARGEST)
                return kept.decode("utf-8", "surrogateescape")
    return ""


def decisions(file: Path | None = None) -> tuple[Decision, ...]:
    """All that was decided, the oldest first."""
    file = file or trust_file()
    try:
        data = Root(file.parent).read(file.name, LARGEST)
    except FileNotFoundError:
        return ()
    decoder, found = msgspec.json.Decoder(Decision), list[Decision]()
    for line in data.splitlines():
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, msgspec.ValidationError):
            continue
    return tuple(found)


def trusted(project: str | os.PathLike[str], file: Path | None = None) -> Trusted:
    """What holds for a project."""
    return in_force(decisions(file), os.path.realpath(project))


def decide(made: Iterable[Decision], file: Path | None = None) -> None:
    """Keep decisions; those made at the same time elsewhere are kept too."""
    file = file or trust_file()
    now = int(time() * 1000)
    lines = [
        msgspec.json.encode(
            Decision(
                project=os.path.realpath(one.project), path=one.path, digest=one.digest,
                verdict=one.verdict, at=one.at or now,
            )
        )
        for one in made
    ]  # fmt: skip
    if not lines:
        return
    private_directory(file.parent)
    private_file(file)
    # A line that was cut short by a crash is ended first, so that it spoils no other.
    data = b"\n" + b"\n".join(lines) + b"\n"
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0))
    try:
        if os.write(handle, data) != len(data):
            raise Unsafe(str(file), "could not be written whole", "free some space")
        os.fsync(handle)
    finally:
        os.close(handle)
