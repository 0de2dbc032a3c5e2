"""Notes as files: one topic a file, and an index of one line a note that is always loaded.

Rule 1: a note is Markdown with the fields `name`, `description` and `type`; a file is named by type
        and topic, `feedback_testing.md`, so that it is found by looking.
Rule 2: the index holds pointers only: at most 200 lines and 25 KB, each line under 150 characters.
        What does not fit is counted in its last line, never cut in silence.
Rule 3: a line of the index that a person has changed stays as they wrote it, as long as its note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from holdfast.core.knowledge import frontmatter
from holdfast.core.knowledge.hidden_unicode import cleaned
from holdfast.core.secrets import mask
from holdfast.errors import InvalidRequest
from holdfast.model.note import NOTE_TYPES, Note, NoteType

INDEX: Final = "MEMORY.md"
INDEX_LINES: Final = 200
INDEX_BYTES: Final = 25_000
LINE: Final = 149
"""How long a line of the index is at most, in characters."""

MOST_FILES: Final = 200
"""So many notes are told of in a manifest, the newest first."""

HEAD_LINES: Final = 30
"""So many lines of a note are read for a manifest."""

LARGEST: Final = 64 * 1024
"""How long a note may be, in bytes."""

_FILE = re.compile(r"(?:user|feedback|project|reference)_[a-z0-9][a-z0-9_-]{0,80}\.md")
_ANY_FILE = re.compile(r"[A-Za-z0-9][\w.-]{0,120}\.md")
_POINTER = re.compile(r"\s*[-*]\s+\[([^\]]*)\]\(([^)\s]+)\)\s*(?:[—–-]+\s*(.*))?")
_MORE = re.compile(r"\[… and [\d,]+ more notes?; .*\]")


class Known(Struct, frozen=True, kw_only=True):
    """A note as it is listed: its file, when it was changed, and what its head says."""

    file: str
    modified: int
    note: Note


def read_note(file: str, text: str) -> Note:
    """A note from its file. What lacks fields is still a note: people write these by hand."""
    told = frontmatter.read(cleaned(text))
    body = told.body.strip("\n")
    kind = told.text("type").strip().lower()
    first = next((line.strip("# ").strip() for line in body.splitlines() if line.strip()), "")
    return Note(
        name=told.text("name").strip() or _title(file),
        description=" ".join(told.text("description").split()) or first[:LINE],
        type=_type(kind, file),
        body=body,
        file=file,
    )


def _type(told: str, file: str) -> NoteType:
    for one in NOTE_TYPES:
        if told == one or (told not in NOTE_TYPES and file.startswith(f"{one}_")):
            return one
    return "project"


def _title(file: str) -> str:
    return file.removesuffix(".md").partition("_")[2].replace("_", " ") or file.removesuffix(".md")


def write_note(note: Note) -> str:
    """The text of a note's file, with nothing hidden and no secret in it."""
    fields = {"name": note.name, "description": note.description, "type": note.type}
    plain = {name: mask(cleaned(" ".join(value.split()))) for name, value in fields.items()}
    text = frontmatter.write(plain, f"\n{mask(cleaned(note.body)).strip()}\n")
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise InvalidRequest(
            f"a note of more than {LARGEST:,} bytes is a document; keep what matters of it"
        )
    return text


def check_type(type: str) -> NoteType:
    """The type of a note; InvalidRequest where it is none."""
    for one in NOTE_TYPES:
        if type == one:
            return one
    raise InvalidRequest(f"a note is of type {', '.join(NOTE_TYPES)}, not {type!r}; name one")


def check_file(file: str) -> str:
    """The name of a note's file; InvalidRequest where it is none, or could lead elsewhere."""
    if not _ANY_FILE.fullmatch(file) or file == INDEX:
        raise InvalidRequest(
            f"{file!r} is no note: name a file such as feedback_testing.md; {INDEX} is the index"
        )
    return file


def file_name(type: NoteType, topic: str, taken: Iterable[str] = ()) -> str:
    """A file for a new note: its type and topic, and a number where that is taken."""
    words = re.findall(r"[a-z0-9]+", topic.lower())[:5]
    slug = "_".join(words)[:60] or "note"
    slug = slug.removeprefix(f"{type}_")
    there, number, made = set(taken), 2, f"{type}_{slug}.md"
    while made in there:
        made, number = f"{type}_{slug}_{number}.md", number + 1
    return made


def is_named_by_type(file: str) -> bool:
    """Whether a file is named as Rule 1 has it."""
    return bool(_FILE.fullmatch(file))


def manifest(known: Sequence[Known]) -> str:
    """One line a note: type, file, when it was changed, description; the newest first."""
    newest = sorted(known, key=lambda one: (-one.modified, one.file))[:MOST_FILES]
    lines = [
        f"- [{one.note.type}] {one.file} ({_time(one.modified)}): {_head(one.note.description)}"
        for one in newest
        if one.file != INDEX
    ]
    return "\n".join(lines)


def head(text: str) -> str:
    """As much of a file as a manifest reads."""
    return "\n".join(text.splitlines()[:HEAD_LINES])


def _head(description: str) -> str:
    return " ".join(description.split())[:400]


def _time(ms: int) -> str:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(max(ms, 0) / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def pointer(note: Note) -> str:
    """A note's line in the index."""
    start = f"- [{_in_brackets(note.name)}]({note.file}) — "
    room = LINE - len(start)
    hook = " ".join(note.description.split())
    return start + (hook if len(hook) <= room else hook[: max(room - 1, 0)].rstrip() + "…")


def _in_brackets(name: str) -> str:
    plain = " ".join(name.replace("[", "(").replace("]", ")").split())
    return plain if len(plain) <= 48 else plain[:47].rstrip() + "…"


def index(
    before: str, notes: Mapping[str, Note], *, changed: Iterable[str] = (), most: int = INDEX_LINES
) -> str:
    """The index with a line for each note that is there, and for none that is not.

    Lines keep their place and words; those of `changed` notes are written anew.
    """
    anew, seen, lines = set(changed), set[str](), list[str]()
    for line in cleaned(before).splitlines():
        if _MORE.fullmatch(line.strip()):
            continue
        found = _POINTER.fullmatch(line)
        if not found:
            lines.append(line)
            continue
        file = found[2]
        if file in seen or file not in notes:
            continue
        seen.add(file)
        lines.append(pointer(notes[file]) if file in anew else line)
    lines += [pointer(notes[file]) for file in sorted(notes) if file not in seen]
    return bounded("\n".join(lines).strip("\n"), most=most)


def pointed(text: str) -> list[str]:
    """The files that an index points to, in order."""
    found = (_POINTER.fullmatch(line) for line in text.splitlines())
    return [one[2] for one in found if one]


def bounded(text: str, *, most: int = INDEX_LINES, size: int = INDEX_BYTES) -> str:
    """An index within its bounds; what was left out is counted in the last line."""
    lines = text.splitlines()
    if len(lines) <= most and len(text.encode("utf-8", "replace")) <= size:
        return f"{text}\n" if text else ""
    kept, left = list[str](), size - 120
    for line in lines[: most - 1]:
        left -= len(line.encode("utf-8", "replace")) + 1
        if left < 0:
            break
        kept.append(line)
    out = len(lines) - len(kept)
    note = f"[… and {out:,} more note{'s' if out > 1 else ''}; `holdfast memory list` has all]"
    return "\n".join((*kept, note)) + "\n"
