"""What is told of a transcript, word for word, and what a missing or strange field changes of it.

A file is read again and again, by this version and the next; what is told of it must be the same,
or a session is there twice. So it is written down in tests/golden/importers: first all that is told
of an example, then for each field of each kind of line what is told otherwise without it, and with
something else in its place. A change that is meant is taken over with

    python -m tests.importers.test_exact

and its difference read before it is committed.
"""

from __future__ import annotations

import copy
import difflib
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.model.told import Told
from holdfast.testing.contracts.importer import ImporterContract
from tests.importers import (
    test_aider,
    test_claude_code,
    test_codex,
    test_copilot_cli,
    test_gemini_cli,
    test_opencode,
    test_pi,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "importers"
DEEP = 4
"""How deep fields are changed."""
ALIKE = 1
"""How many fields of one name in lines of one kind are changed."""
SHOWN = 4
"""How many lines of a difference are written down; the rest as a hash."""

TAKE = "if this is meant: python -m tests.importers.test_exact"

Item = tuple[str, dict[str, str]]

EXAMPLES: dict[str, type[ImporterContract]] = {
    "aider": test_aider.TestAider,
    "claude-code": test_claude_code.TestContract,
    "codex": test_codex.TestContract,
    "codex-prompts": test_codex.TestPrompts,
    "codex-old": test_codex.TestOld,
    "copilot-cli": test_copilot_cli.TestCopilotCli,
    "gemini-cli": test_gemini_cli.TestLines,
    "gemini-cli-document": test_gemini_cli.TestDocument,
    "opencode-export": test_opencode.TestExport,
    "opencode-tree": test_opencode.TestTree,
    "opencode-database": test_opencode.TestDatabase,
    "pi": test_pi.TestPi,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_told_of_an_example_never_changes(name: str, tmp_path: Path) -> None:
    found = described(EXAMPLES[name](), tmp_path)
    wanted = (GOLDEN / f"{name}.txt").read_text("utf-8")
    if found != wanted:
        lines = difflib.unified_diff(wanted.splitlines(), found.splitlines(), lineterm="", n=1)
        pytest.fail("\n".join([TAKE, *[*lines][:60]]), pytrace=False)


def described(contract: ImporterContract, place: Path) -> str:
    """What is told of an example, and of the example with one field changed at a time."""
    path = contract.example(place)
    before = path.read_bytes()
    whole = _told(contract, path, place)
    pieces = [_line(item) for item in whole]
    for title, changed in _changes(path, before):
        path.write_bytes(changed)
        lines = [*_differences(whole, _told(contract, path, place))]
        rest = lines[SHOWN:]
        if rest:
            lines[SHOWN:] = [f"and {len(rest)} more: {_hash(repr(rest))}"]
        pieces.append("\n  ".join([f"{title}{'' if lines else ': the same'}", *lines]))
    return "\n".join(pieces) + "\n"


def _told(contract: ImporterContract, path: Path, place: Path) -> list[Item]:
    return [_item(one, str(place)) for one in contract.told(path)]


def _item(told: Told, place: str) -> Item:
    """What kind of item it is, and whatever in it is not as usual."""
    fields = msgspec.to_builtins(told, enc_hook=repr, builtin_types=(bytes,))
    return type(told).__name__, dict(_flat(fields, place))


def _flat(value: Any, place: str, above: str = "") -> Iterator[tuple[str, str]]:
    """Every field that holds no others, by its path."""
    inner = (
        value.items() if isinstance(value, dict)
        else enumerate(value) if isinstance(value, list | tuple) else None
    )  # fmt: skip
    if inner is None:
        yield above, _short(value, place)
        return
    for name, one in inner:
        yield from _flat(one, place, f"{above}.{name}".lstrip("."))


def _short(value: Any, place: str) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes {_hash(value)}"
    text = json.dumps(value).replace(place, "PLACE")
    return text if len(text) < 100 else f"{text[:60]}... {_hash(text)}"


def _line(item: Item) -> str:
    kind, fields = item
    return f"{kind} {', '.join(f'{name}={value}' for name, value in fields.items())}"


def _differences(whole: list[Item], found: list[Item]) -> Iterator[str]:
    """The items that are there no more or newly, and in the others the fields that differ."""
    lines = [list(map(_line, one)) for one in (whole, found)]
    matcher = difflib.SequenceMatcher(None, *lines, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "replace" and last - first == end - start:
            for one, two in zip(whole[first:last], found[start:end], strict=True):
                yield from _fields(one, two)
        elif kind != "equal":
            yield from (f"- {_brief(line)}" for line in lines[0][first:last])
            yield from (f"+ {_brief(line)}" for line in lines[1][start:end])


def _fields(one: Item, two: Item) -> Iterator[str]:
    if one[0] != two[0]:
        yield from (f"- {_brief(_line(one))}", f"+ {_brief(_line(two))}")
        return
    for name in dict.fromkeys([*one[1], *two[1]]):
        was, now = one[1].get(name, "-"), two[1].get(name, "-")
        if was != now and not name.endswith("data"):  # the bytes of the line that was changed
            yield f"{one[0]} {name}: {was} > {now}"


def _brief(line: str) -> str:
    return line if len(line) < 90 else f"{line[:80]}... {_hash(line)}"


def _hash(data: bytes | str) -> str:
    return sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()[:8]


# Changes, each with what is changed.


def _changes(path: Path, before: bytes) -> Iterator[tuple[str, bytes]]:
    if path.suffix == ".jsonl":
        return _of_lines(before.decode().splitlines())
    if path.suffix == ".json":
        return _of_document(json.loads(before))
    return _of_text(before.decode().splitlines()) if path.suffix == ".md" else iter(())


def _of_lines(lines: list[str]) -> Iterator[tuple[str, bytes]]:
    seen: Counter[str] = Counter()

    def without(nth: int, *instead: str) -> bytes:
        return "\n".join([*lines[:nth], *instead, *lines[nth + 1 :], ""]).encode()

    for nth, line in enumerate(lines):
        yield f"line {nth + 1} is missing", without(nth)
        yield f"line {nth + 1} is there twice", without(nth, line, line)
        record = json.loads(line)
        for place in _places(record, DEEP):
            known = f"{_kind(record)} {[part for part in place if isinstance(part, str)]}"
            seen[known] += 1
            if seen[known] <= ALIKE:
                for word, change in CHANGES.items():
                    made = _changed(record, place, change)
                    yield f"line {nth + 1} {word} {_said(place)}", without(nth, json.dumps(made))


def _kind(record: Any) -> str:
    fields: dict[str, Any] = record if isinstance(record, dict) else {}
    inner = fields.get("payload")
    kinds = [fields.get("type"), inner.get("type") if isinstance(inner, dict) else ""]
    return " ".join(map(str, kinds))


def _of_document(document: Any) -> Iterator[tuple[str, bytes]]:
    seen: Counter[str] = Counter()
    for place in _places(document, DEEP + 2):
        known = str([part for part in place if isinstance(part, str)])
        seen[known] += 1
        if seen[known] <= ALIKE:
            for word, change in CHANGES.items():
                made = _changed(document, place, change)
                yield f"{word} {_said(place)}", json.dumps(made).encode()


def _of_text(lines: list[str]) -> Iterator[tuple[str, bytes]]:
    for nth, line in enumerate(lines):
        for word, instead in {"is missing": (), "is there twice": (line, line)}.items():
            text = "\n".join([*lines[:nth], *instead, *lines[nth + 1 :], ""])
            yield f"line {nth + 1} {word}", text.encode()


def _places(value: Any, deep: int, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field inside a JSON value, down to a depth."""
    inner = (
        value.items() if isinstance(value, dict)
        else enumerate(value) if isinstance(value, list) else ()
    )  # fmt: skip
    for name, one in inner if deep else ():
        yield (*above, name)
        yield from _places(one, deep - 1, (*above, name))


def _said(place: tuple[Any, ...]) -> str:
    return re.sub(r"\.(\d+)", r"[\1]", ".".join(map(str, place)))


def _changed(record: Any, place: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    made = copy.deepcopy(record)
    inner = made
    for name in place[:-1]:
        inner = inner[name]
    change(inner, place[-1])
    return made


def _leave_out(inner: Any, name: Any) -> None:
    del inner[name]


def _replace(inner: Any, name: Any) -> None:
    was = inner[name]
    inner[name] = {} if isinstance(was, list) else 7 if isinstance(was, str) else "other"


CHANGES: dict[str, Callable[[Any, Any], None]] = {
    "without": _leave_out, "with something else for": _replace
}  # fmt: skip


def main() -> None:
    """Write down what is told now."""
    for name, contract in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "a" / "place"
            place.mkdir(parents=True)
            text = described(contract(), place)
        (GOLDEN / f"{name}.txt").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
