"""What a test of exact values is made of: one field changed at a time, and what that changes.

Whatever is read of a value is written down beside it, and then what is read otherwise where one
field is missing, or holds something else. `python -m tests.changing` writes all of it down anew;
the difference is to be read before it is committed.
"""

from __future__ import annotations

import copy
import difflib
import importlib
import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

Item = tuple[str, dict[str, str]]
"""A kind, and every field that holds no others by its path."""


def compare(file: Path, found: str, command: str) -> None:
    """Fail with what differs from what is written down, and how a change that is meant is taken."""
    wanted = file.read_text("utf-8") if file.is_file() else ""
    if found != wanted:
        lines = difflib.unified_diff(wanted.splitlines(), found.splitlines(), lineterm="", n=0)
        words = f"if this is meant: python -m {command}"
        pytest.fail("\n".join([words, *[*lines][:60]]), pytrace=False)


def item(value: Any, place: str = "") -> Item:
    """What kind of value it is, and whatever in it is not as usual."""
    fields = msgspec.to_builtins(value, enc_hook=repr, builtin_types=(bytes,))
    return type(value).__name__, dict(_flat(fields, place))


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
        return f"{len(value)} bytes {short_hash(value)}"
    text = json.dumps(value)
    text = text.replace(place, "PLACE") if place else text
    return text if len(text) < 100 else f"{text[:60]}... {short_hash(text)}"


def line(item: Item) -> str:
    kind, fields = item
    return f"{kind} {', '.join(f'{name}={value}' for name, value in fields.items())}"


def block(title: str, whole: list[Item], found: list[Item], most: int) -> str:
    """What a change is called, and below it so many lines of what it changes."""
    lines = [*differences(whole, found)]
    if rest := lines[most:]:
        lines[most:] = [f"and {len(rest)} more: {short_hash(repr(rest))}"]
    return "\n  ".join([f"{title}{'' if lines else ': the same'}", *lines])


def differences(whole: list[Item], found: list[Item]) -> Iterator[str]:
    """The items that are there no more or newly, and in the others the fields that differ."""
    lines = [list(map(line, one)) for one in (whole, found)]
    matcher = difflib.SequenceMatcher(None, *lines, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "replace" and last - first == end - start:
            for one, two in zip(whole[first:last], found[start:end], strict=True):
                yield from _fields(one, two)
        elif kind != "equal":
            yield from (f"- {brief(line)}" for line in lines[0][first:last])
            yield from (f"+ {brief(line)}" for line in lines[1][start:end])


def _fields(one: Item, two: Item) -> Iterator[str]:
    if one[0] != two[0]:
        yield from (f"- {brief(line(one))}", f"+ {brief(line(two))}")
        return
    for name in dict.fromkeys([*one[1], *two[1]]):
        was, now = one[1].get(name, "-"), two[1].get(name, "-")
        if was != now and not name.endswith("data"):  # the bytes of the line that was changed
            yield f"{one[0]} {name}: {was} > {now}"


def brief(line: str) -> str:
    return line if len(line) < 90 else f"{line[:80]}... {short_hash(line)}"


def short_hash(data: bytes | str) -> str:
    return sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()[:8]


def places(value: Any, deep: int, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field inside a JSON value, down to a depth."""
    inner = (
        value.items() if isinstance(value, dict)
        else enumerate(value) if isinstance(value, list) else ()
    )  # fmt: skip
    for name, one in inner if deep else ():
        yield (*above, name)
        yield from places(one, deep - 1, (*above, name))


def said(place: tuple[Any, ...]) -> str:
    return re.sub(r"\.(\d+)", r"[\1]", ".".join(map(str, place)))


def changed(record: Any, place: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
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


TABLES = (
    "tests.agent.test_verdicts", "tests.codecs.test_exact", "tests.core.test_plan_table",
    "tests.importers.test_exact", "tests.ledger.test_facts_table", "tests.policies.test_played",
    "tests.stores.test_exact",
    "tests.core.test_functions_table", "tests.engine.test_doors_table",
    "tests.agent.test_agent_table",
)  # fmt: skip


if __name__ == "__main__":
    for name in TABLES:
        importlib.import_module(name).main()
