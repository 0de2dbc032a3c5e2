"""Lines of JSON and copies that were handed over, piece by piece: what each line is taken for."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.importers import jsonl
from holdfast.importers.budget import Allowance
from holdfast.importers.handed_over import Copy, copied
from holdfast.importers.jsonl import Found
from holdfast.model import wire
from holdfast.model.message import Record
from holdfast.model.transcript_events import HANDED, Kept, Line, Problem
from holdfast.ports import TranscriptFile


class Written:
    """A file of these lines."""

    name = "a.jsonl"

    def __init__(self, *lines: bytes, fault: str = "") -> None:
        self._lines = [Line(number, data) for number, data in enumerate(lines, 1)]
        if fault:
            self._lines.append(Line(len(lines) + 1, b"{}", fault))

    def lines(self, name: str = "") -> Iterator[Line]:
        return iter(self._lines)


def written(*lines: bytes, fault: str = "") -> TranscriptFile:
    return cast("TranscriptFile", Written(*lines, fault=fault))


def kept(kind: str, data: bytes) -> Kept:
    return Kept(Record("own", kind, data, 1, whole=True))


@pytest.mark.parametrize(
    ("data", "problem", "kind", "fields"),
    [
        (b'{"a": 1}', None, "", {"a": 1}),
        (b'[1]', "is no record, but other JSON", "other", None),
        (b'{"a": ', "is no JSON: ", "damaged", None),
        (b'{"a": "caf\xe9"}', jsonl.NOT_UTF8, "not UTF-8", {"a": "caf\u00e9"}),
        (b'{"a": "\x80"}', jsonl.NOT_UTF8, "not UTF-8", {"a": "\u20ac"}),
        (b'{"a": "\x81"}', jsonl.NOT_UTF8, "not UTF-8", {"a": "\x81"}),
        (b'{"a": "\xe9', "is no JSON: ", "damaged", None),
        (b'{"a": "\\ud800"}', None, "", {"a": "\ud800"}),
    ],
)  # fmt: skip
def test_a_line_is_a_record_or_it_is_kept_with_what_is_wrong(
    data: bytes, problem: str | None, kind: str, fields: dict[str, Any] | None
) -> None:
    told = [*jsonl.read("own", 1, data)]
    found = [one for one in told if isinstance(one, Found)]
    assert [one.fields for one in found] == ([fields] if fields is not None else [])
    assert [one.line for one in told if isinstance(one, Problem)] == ([1] if problem else [])
    assert all(one.what.startswith(problem or "?") for one in told if isinstance(one, Problem))
    assert [one for one in told if isinstance(one, Kept)] == ([kept(kind, data)] if problem else [])


def test_lines_without_anything_are_none_and_faults_are_told_in_their_place() -> None:
    file = written(b"", b"  \t", b'{"a": 1}', fault="is too long")
    record, fault = jsonl.records(file, "own")
    assert isinstance(record, Found)
    assert record.line == 3
    assert fault == Problem("is too long", 4)


@given(st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("abc"), st.text())))
def test_what_is_parted_is_the_member_and_all_the_rest(value: dict[str, dict[str, str]]) -> None:
    data = wire.encode(value)
    for outer in "abc":
        member, rest = jsonl.parted(data, outer)
        assert rest == jsonl.without(data, outer)
        assert (jsonl.decode(member) if member else None) == value.get(outer)
        left = {name: one for name, one in value.items() if name != outer}
        assert jsonl.decode(rest) == left
        for inner in "abc":
            member, rest = jsonl.parted(data, outer, inner)
            there = inner in value.get(outer, {})
            assert (jsonl.decode(member) if member else None) == value.get(outer, {}).get(inner)
            if there:
                own = {name: one for name, one in value[outer].items() if name != inner}
                assert jsonl.decode(rest) == {**value, outer: own}
            else:
                assert jsonl.decode(rest) == value


@pytest.mark.parametrize(
    ("data", "path"), [(b"{", ("a",)), (b"[1]", ("a",)), (b'{"a": 1}', ("b",))]
)
def test_where_there_is_no_such_member_it_stays_whole(data: bytes, path: tuple[str, ...]) -> None:
    assert jsonl.parted(data, *path) == (b"", data)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1970-01-01T00:00:01Z", 1_000), ("1970-01-01T00:00:01.234+00:00", 1_234),
        ("1969-12-31T23:59:59Z", 0), ("never", 0), (None, 0), (7, 0), ("", 0),
        ("2025-02-30T00:00:00Z", 0),
    ],
)  # fmt: skip
def test_a_time_is_in_milliseconds(text: object, time: int) -> None:
    assert jsonl.milliseconds(text) == time


@pytest.mark.parametrize(
    ("takes", "allowed", "complains"),
    [((2, 1), (True, True), False), ((2, 2), (True, False), True), ((4, 0), (False, False), True)],
)
def test_an_allowance_is_used_up_for_good(
    takes: tuple[int, ...], allowed: tuple[bool, ...], complains: bool
) -> None:
    allowance = Allowance(3, "too many")
    assert tuple(allowance.take(many) for many in takes) == allowed
    assert [*allowance.told()] == ([Problem("too many")] if complains else [])


# What was handed over.

BEFORE = b'{"type":"user"}'
DIGEST = sha256(BEFORE + b"\n").hexdigest()


def handed(**fields: Any) -> bytes:
    told = {"session": "s1", "title": "a title", "sha256": DIGEST, "head": 7, **fields}
    return wire.encode({"type": HANDED[0], **{k: v for k, v in told.items() if v is not None}})


def nested(**fields: Any) -> bytes:
    told = {"session": "s1", "title": "a title", "sha256": DIGEST, "head": 7, **fields}
    return wire.encode({"type": HANDED[-1], "payload": told, "by": "holdfast"})


WHOLE = Copy("s1", "a title", head=7)


@pytest.mark.parametrize(
    ("lines", "copy"),
    [
        ((BEFORE, handed()), WHOLE),
        ((BEFORE, nested()), WHOLE),
        ((BEFORE, handed(), b" "), WHOLE),
        ((BEFORE, handed(), BEFORE), Copy("s1", "a title", grown=True, head=7)),
        ((BEFORE, BEFORE, handed()), Copy("s1", "a title")),
        ((handed(),), Copy("s1", "a title")),
        ((BEFORE, handed(title=None)), Copy("s1", head=7)),
        ((BEFORE, handed(head=-1)), Copy("s1", "a title")),
        ((BEFORE, handed(session="")), None),
        ((BEFORE, handed(session="s\u00e9")), None),
        ((BEFORE, handed(session=7)), None),
        ((BEFORE, b'{"holdfast": '), None),
        ((BEFORE, handed().replace(HANDED[0].encode(), b"holdfast-else")), None),
        ((BEFORE,), None),
    ],
)
def test_a_copy_says_of_what_it_is_one(lines: tuple[bytes, ...], copy: Copy | None) -> None:
    assert copied(written(*lines)) == copy
