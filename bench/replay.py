"""Real transcripts replayed: where they are cut, and which names the next turns really use.

A turn is a reply of the model with what the tools answer. What counts as a name is told here by
shape, apart from anything the package itself knows of names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from holdfast.core.search.searchable_text import searchable
from holdfast.model.log import Entry
from holdfast.model.message import Message, Part, Text, ToolCall, ToolResult
from tests.ledger.transcripts import Log, claude, codex, flat, pi

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "transcripts"
EVERY, AHEAD, MOST = 10, 20, 12
"""A cut after every 10 turns, with 20 turns behind it; at most 12 cuts of one transcript."""

_NAME = re.compile(
    r"https?://[^\s\"'`<>()\[\]{}\\,;]+"  # addresses
    r"|[\w.@+~-]*(?:/[\w.@+-]+)+"  # paths
    r"|\b[\w-]+\.(?:py|js|jsx|ts|tsx|mjs|rs|go|rb|java|c|h|cpp|cs|sh|sql|md|txt|jsonl?|ya?ml|toml|"
    r"lock|html|css|cfg|ini|log|svg|png|gif)\b"  # names of files
    r"|\b[A-Za-z]\w*_\w+|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z0-9]+[A-Z]\w*"  # snake and camel
    r"|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"  # hashes
    r"|\b[A-Z]{1,10}-?\d{2,6}\b",  # codes of errors, keys of issues
    re.ASCII,
)
_SHORTEST, _LONGEST = 6, 120
_BRACES = re.compile(r"([\w.@+~/-]*/)\{([^{}\n]*)\}", re.ASCII)


class Transcript(msgspec.Struct):
    """One session: its project, its entries, and whether it served for tuning."""

    name: str
    project: str
    entries: list[Entry]
    tuning: bool = False


def names(text: str) -> set[str]:
    """Everything in a text that looks like a name, `a/{b, c}` written out; of a path its ends."""
    found: set[str] = set()
    for match in _NAME.finditer(_BRACES.sub(_written_out, text)):
        word = match[0].rstrip(".-/+")
        if _SHORTEST <= len(word) <= _LONGEST and re.search("[A-Za-z]", word):
            found.add(word)
    return found


def with_ends(found: set[str]) -> set[str]:
    """The names, and the ends of those that are paths: who has `a/b/c.py` has `b/c.py` too."""
    ends = set(found)
    for word in found:
        if "/" in word and "://" not in word:
            pieces = word.split("/")
            ends.update("/".join(pieces[at:]) for at in range(1, len(pieces)))
    return ends


def _written_out(match: re.Match[str]) -> str:
    return " ".join(match[1] + each.strip() for each in match[2].split(","))


def words(entry: Entry) -> str:
    """All that was said in an entry: text, what tools were given, what they answered."""
    assert isinstance(entry.body, Message)
    return "\n".join(map(text_of, entry.body.parts))


def written(entry: Entry) -> str:
    """What the model itself wrote in an entry, or the user: no output of tools."""
    assert isinstance(entry.body, Message)
    parts = (part for part in entry.body.parts if not isinstance(part, ToolResult))
    return "\n".join(map(text_of, parts))


def text_of(part: Part) -> str:
    """What a part says. The fields of a tool's input have names that its schema tells anyway."""
    if not isinstance(part, ToolCall):
        return searchable(part)
    try:
        return "\n".join(_values(json.loads(part.input)))
    except ValueError:
        return part.input


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    inside = value.values() if isinstance(value, dict) else value
    for inner in inside if isinstance(value, dict | list) else ():
        yield from _values(inner)


def cuts(entries: Sequence[Entry], most: int = MOST) -> list[int]:
    """The indices of the first entry behind each cut, spread over the transcript."""
    replies = [at for at, one in enumerate(entries) if one.body.role == "assistant"]  # type: ignore[union-attr]
    places = [replies[turn] for turn in range(EVERY, len(replies) - AHEAD + 1, EVERY)]
    if len(places) <= most:
        return places
    return [places[at * (len(places) - 1) // (most - 1)] for at in range(most)]


def following(entries: Sequence[Entry], cut: int) -> Sequence[Entry]:
    """The next 20 turns."""
    replies = 0
    for at in range(cut, len(entries)):
        replies += entries[at].body.role == "assistant"  # type: ignore[union-attr]
        if replies > AHEAD:
            return entries[cut:at]
    return entries[cut:]


def transcripts(data: Path = DATA) -> Iterator[Transcript]:
    """Every session long enough to be cut; projects, in the order of their names, by turns serve
    for tuning and are held out."""
    if not data.is_dir():
        raise SystemExit(
            "recorded data is missing: no ../shared/data/transcripts beside the checkout"
        )
    found = sorted(_read(data), key=lambda one: one.name)
    projects = sorted({one.project for one in found})
    for one in found:
        one.tuning = projects.index(one.project) % 2 == 0
        yield one


def _read(data: Path) -> Iterator[Transcript]:
    for kind, (read, pattern) in READERS.items():
        for file in sorted((data / kind).rglob(pattern)):
            if file.name in ("history.jsonl", "journal.jsonl") or "expected" in file.name:
                continue
            entries = read(file)
            if cuts(entries):
                place = file.relative_to(data / kind)
                yield Transcript(f"{kind}/{place.as_posix()}", place.parts[0], entries)


def opencode(file: Path) -> list[Entry]:
    """An exported session of OpenCode."""
    log = Log()
    for message in json.loads(file.read_text("utf-8")).get("messages", ()):
        parts = [part for part in message.get("parts", ()) if isinstance(part, dict)]
        texts = [Text(str(part.get("text"))) for part in parts if part.get("type") == "text"]
        tools = [part for part in parts if part.get("type") == "tool"]
        log.at = int(message.get("info", {}).get("time", {}).get("created") or 1)
        if message.get("info", {}).get("role") == "user":
            log.say("user", *texts)
            continue
        log.say("assistant", *texts, *map(_opencode_call, tools))
        if tools:
            log.say("tool", *map(_opencode_result, tools))
    return log.entries


def _opencode_call(part: dict[str, Any]) -> ToolCall:
    given = json.dumps(part.get("state", {}).get("input"), ensure_ascii=False)
    return ToolCall(str(part.get("callID")), str(part.get("tool")), given)


def _opencode_result(part: dict[str, Any]) -> ToolResult:
    state = part.get("state", {})
    output = flat(state.get("output") or state.get("error"))
    return ToolResult(str(part.get("callID")), output, error=state.get("status") == "error")


def aider(file: Path) -> list[Entry]:
    """A chat history of Aider: `####` is the user, the rest the model and the program."""
    log, role, held = Log(), "assistant", list[str]()
    for line in file.read_text("utf-8", "replace").splitlines():
        speaker = "user" if line.startswith("####") else "assistant"
        if speaker != role and held:
            log.say(role, Text("\n".join(held)))
            held = []
        role = speaker
        held.append(line.removeprefix("#### "))
    log.say(role, Text("\n".join(held)))
    return log.entries


READERS: dict[str, tuple[Callable[[Path], list[Entry]], str]] = {
    "aider": (aider, "*.md"),
    "claude": (claude, "*.jsonl"),
    "codex": (codex, "*.jsonl"),
    "opencode": (opencode, "*-*.json"),
    "other-pi": (pi, "*.jsonl"),
}


@cache
def _names_of(text: str) -> frozenset[str]:
    return frozenset(names(text))


def names_in(entries: Iterable[Entry], told: Callable[[Entry], str] = words) -> set[str]:
    """The names of these entries; each is looked through once."""
    return set[str]().union(*(_names_of(told(entry)) for entry in entries))
