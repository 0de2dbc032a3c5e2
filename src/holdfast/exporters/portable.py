"""A session in its portable form, piece by piece: never held whole.

Rule 1: messages come first, as they are read; then what needs to know where they stand.
Rule 2: the state that a summary replaced, and columns that follow from the entries, are left out:
        whoever reads it back computes them.
Rule 3: with `Masking`, whatever looks like a secret is masked, in what is sealed too, and frozen
        ledgers are left out: nobody can look into them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from inspect import cleandoc
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.core.secrets import masked
from holdfast.exporters.fidelity import honest, many, said
from holdfast.model import wire
from holdfast.model.log import Entry, Folded, Marker, Notes, SessionInfo, Summary
from holdfast.model.message import Message
from holdfast.model.portable import (
    VERSION,
    Boundary,
    Compaction,
    Fidelity,
    PortableBoundary,
    PortableLine,
    PortableMarker,
    PortableMessage,
    SessionMemory,
    labels,
)
from holdfast.model.reply import Call
from holdfast.model.span import Span, clip, union, within

NOT_CARRIED = [
    "exact token counts, the search index and background jobs, which are made anew",
    "other sessions: its forks, what it was forked from, subagents; export those too",
]

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """The JSON Schema of one line."""
    whole = msgspec.json.schema(PortableLine)
    for one in whole["$defs"].values():
        if "description" in one:  # a docstring, whose indentation Python keeps up to 3.12
            one["description"] = cleandoc(one["description"])
    return {"$schema": DRAFT, "title": f"Holdfast portable, version {VERSION}", **whole}


class Portable:
    """One session on its way out: give it everything in order, and join what comes back."""

    def __init__(self, session: SessionInfo, *, raw: bool) -> None:
        self._session, self._raw = session, raw
        self._seqs: list[int] = []
        self._tokens: list[int] = []
        self._markers = 0
        self._calls = 0
        self.boundaries: tuple[Boundary, ...] = ()

    def begin(self) -> bytes:
        """The line up to its first message."""
        told = replace(self._session, head=0, last_message=0, last_marker=0, compacted=0)
        begun = f'{{"type":"session","version":{VERSION},"session":'.encode()
        return begun + wire.encode(self._clean(told)) + b',"messages":['

    def messages(self, entries: Iterable[Entry]) -> bytes:
        """Some more messages; markers among them are left for later."""
        pieces: list[bytes] = []
        for entry in entries:
            if isinstance(entry.body, Message):
                comma = b"," if self._seqs else b""
                pieces.append(comma + wire.encode(self._clean(self._message(entry, entry.body))))
        return b"".join(pieces)

    def _message(self, entry: Entry, body: Message) -> PortableMessage:
        self._seqs.append(entry.seq)
        self._tokens.append(sum(entry.counts))
        told: Any = labels(entry)
        return PortableMessage(**told, role=body.role, parts=body.parts, counts=entry.counts)

    def markers(self, entries: Sequence[Entry], folded: Folded) -> bytes:
        """All markers, what they did, and the notes that stand."""
        self._markers = len(entries)
        told = [self._clean(self._marker(entry)) for entry in entries]
        self.boundaries = tuple(self._clean(each) for each in self._bounded(entries, folded))
        written = b'],"markers":' + wire.encode(told)
        written += b',"compaction":' + wire.encode(Compaction(boundaries=self.boundaries))
        notes = next((one.body for one in entries if one.seq == folded.notes), None)
        if isinstance(notes, Notes):
            memory = SessionMemory(text=notes.text, after_message_index=self._upto(notes.upto))
            written += b',"memory":' + wire.encode(self._clean(memory))
        return written + b',"calls":['

    def _marker(self, entry: Entry) -> PortableMarker:
        body = entry.body
        assert not isinstance(body, Message)
        told: Any = labels(entry)
        after = self._upto(entry.seq)
        return PortableMarker(**told, after_message_index=after, marker=self._bare(body))

    def _bare(self, body: Marker) -> Marker:
        if not isinstance(body, Summary):
            return body
        return replace(body, folded=Folded(), facts=body.facts if self._raw else b"")

    def _bounded(self, entries: Sequence[Entry], folded: Folded) -> Iterator[Boundary]:
        for entry in entries:
            if isinstance(entry.body, Summary):
                body, gone = entry.body, tuple(self._replaced(entry.seq, entry.body))
                yield Boundary(
                    after_message_index=self._upto(entry.seq),
                    uuid=body.boundary or _named(entry),
                    trigger=body.trigger,
                    pre_tokens=body.prompt_before or body.tokens_before or None,
                    post_tokens=body.prompt_after or body.tokens_after or None,
                    summary=body.text,
                    replaced_message_indices=gone,
                    replaced_tokens=sum(self._tokens[index] for index in gone),
                    standing=entry.seq in folded.summaries,
                )

    def _replaced(self, seq: int, body: Summary) -> Iterator[int]:
        """The messages that were visible before a summary, and are not because of it."""
        state, kept = body.folded, set(body.kept)
        seen = union(state.visible, tuple(Span(one, one) for one in state.kept))
        for span in clip(body.covers, 1, seq - 1):
            first = self._upto(span.first - 1) + 1
            for index in range(first, self._upto(span.last) + 1):
                if self._seqs[index] not in kept and within(self._seqs[index], seen):
                    yield index

    def _upto(self, seq: int) -> int:
        """The index of the last message at or before a place."""
        return bisect_right(self._seqs, seq) - 1

    def calls(self, calls: Iterable[Call], renamed: dict[str, str]) -> bytes:
        """Some more calls; what they were given may have another name once it is masked."""
        pieces: list[bytes] = []
        for call in calls:
            told = replace(call, given=renamed.get(call.given, call.given))
            pieces.append((b"," if self._calls else b"") + wire.encode(self._clean(told)))
            self._calls += 1
        return b"".join(pieces)

    def given(self, given: dict[str, bytes]) -> tuple[dict[str, bytes], dict[str, str]]:
        """What calls were given, by its hash, and the hash that each had before."""
        clean = {old: self._clean((data,))[0] for old, data in given.items()}
        names = {old: wire.digest(data).hex() for old, data in clean.items()}
        return {names[old]: clean[old] for old in clean}, names

    def end(self, given: dict[str, bytes]) -> bytes:
        """The rest of the line."""
        told = wire.encode(dict(sorted(given.items())))
        return b'],"given":' + told + b',"fidelity":' + wire.encode(self.fidelity()) + b"}\n"

    def lines(self) -> bytes:
        """Its boundaries, each on a line of its own."""
        return b"".join(
            wire.encode(
                PortableBoundary(version=VERSION, session=self._session.id, boundary=boundary)
            )
            + b"\n"
            for boundary in self.boundaries
        )

    def fidelity(self) -> Fidelity:
        """What was carried."""
        carried = [f"{said(len(self._seqs), self._markers)}, word for word"]
        if self._calls:
            carried.append(f"{many(self._calls, 'model call')}: what was given, used and paid")
        return honest(carried, NOT_CARRIED, raw=self._raw)

    def _clean(self, value: Any) -> Any:
        return value if self._raw else masked(value)


def _named(entry: Entry) -> str:
    """The id of an entry where it comes from; our own where that only counts, or has none."""
    return entry.id if entry.native.isdecimal() else entry.native or entry.id
