"""Between rows and values: what an entry looks like in the tables, and back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from hashlib import blake2b, sha256
from typing import Any

import msgspec

from holdfast.errors import Corrupt, InvalidRequest
from holdfast.model import wire
from holdfast.model.log import Body, Draft, Entry, Head, Marker, SessionInfo, Summary, kind_of
from holdfast.model.message import Message, Part
from holdfast.stores.sql.database import Row
from holdfast.stores.sql.keys import MOST_ENTRIES, MOST_PARTS, entry_of, part_place, place, seq_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

INLINE = 32 * 1024
"""Parts larger than this go to a blob."""

LARGEST_PART = 256 << 20
"""No part is larger; a blob that unpacks to more was not written here."""

GARBLED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError)
"""What a column raises that holds no value of ours, or no bytes at all, as SQLite allows."""


class Extra(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True):
    """What an entry carries besides its columns; absent where all of it is empty."""

    parent: str = ""
    provider: str = ""
    model: str = ""
    request: str = ""
    key: str = ""
    native: str = ""


class Rows(msgspec.Struct):
    """The rows that some drafts become."""

    entries: list[tuple[Any, ...]] = []
    parts: list[tuple[Any, ...]] = []
    markers: list[tuple[Any, ...]] = []
    blobs: list[tuple[Any, ...]] = []

    def of(self, number: int) -> Rows:
        """The same rows, laid out for no session, in the one of this number."""
        entry = place(number, 0)
        part = part_place(entry, 0)
        return Rows(
            [(at + entry, *row) for at, *row in self.entries],
            [(at + part, *row) for at, *row in self.parts],
            [(at + entry, *row) for at, *row in self.markers],
            self.blobs,
        )


def lay_out(drafts: Sequence[Draft], first: int, key: str) -> Rows:
    """The rows of these drafts, the first of them at the place `first`."""
    rows = Rows()
    for at, draft in enumerate(drafts, first):
        data = extra_of(draft, key)
        body = draft.body
        if isinstance(body, Message):
            kind, role = "message", body.role
            hash = _lay_out_parts(rows, at, body, draft.counts)
        else:
            kind, role = kind_of(body), None
            content = wire.encode(body)
            rows.markers.append((at, kind, content))
            hash = fingerprint(kind, [content])
        rows.entries.append((at, draft.id, kind, role, draft.created, draft.completed, hash, data))
    return rows


def extra_of(draft: Draft, key: str) -> bytes | None:
    """What a draft carries besides its columns; nothing where all of it is empty."""
    if not (draft.parent or draft.provider or draft.model or draft.request or key or draft.native):
        return None
    return wire.encode(
        Extra(draft.parent, draft.provider, draft.model, draft.request, key, draft.native)
    )


def _lay_out_parts(rows: Rows, at: int, body: Message, counts: tuple[int, ...]) -> bytes:
    if len(body.parts) > MOST_PARTS:
        raise InvalidRequest(
            f"a message of {len(body.parts)} parts; split it: at most {MOST_PARTS} fit"
        )
    contents: list[bytes] = []
    for ordinal, part in enumerate(body.parts):
        content = wire.encode(part)
        contents.append(content)
        blob, inline = None, content
        if len(content) > INLINE:
            rows.blobs.append(packed := blob_row(content))
            blob, inline = packed[0], None
        count = counts[ordinal] if ordinal < len(counts) else 0
        rows.parts.append(
            (part_place(at, ordinal), kind_of(part), len(content), count, blob, inline)
        )
    return fingerprint(body.role, contents)


def fingerprint(kind: str, contents: Sequence[bytes]) -> bytes:
    """What identifies an entry's content; computed from the stored bytes, so it can be checked."""
    if len(contents) == 1:  # as most are: in one go
        content = contents[0]
        whole = b"%b%d:%b" % (kind.encode(), len(content), content)
        return blake2b(whole, digest_size=16).digest()
    return _signed(blake2b(kind.encode(), digest_size=16), contents)


def intact(hash: bytes, kind: str, contents: Sequence[bytes]) -> bool:
    """Whether this is the content that an entry was written with."""
    if fingerprint(kind, contents) == hash:
        return True
    return _signed(sha256(kind.encode()), contents) == hash  # as the first stores were written


def _signed(hasher: Any, contents: Sequence[bytes]) -> bytes:
    for content in contents:
        hasher.update(b"%d:" % len(content))
        hasher.update(content)
    return hasher.digest()


def unpack(data: bytes) -> bytes:
    """A blob's content; Corrupt where it is none, or larger than any that is written here."""
    unpacking = zstd.ZstdDecompressor()
    try:
        _check_size(zstd.get_frame_info(data).decompressed_size)
        content = unpacking.decompress(data, LARGEST_PART + 1)
        _check_size(len(content))
        if not unpacking.eof:
            raise zstd.ZstdError("it ends too early")
    except zstd.ZstdError as garbled:
        raise Corrupt(f"a blob cannot be unpacked ({garbled}); run `holdfast doctor`") from garbled
    return content


def _check_size(size: int | None) -> None:
    if size is not None and size > LARGEST_PART:
        raise zstd.ZstdError(f"it would be larger than {LARGEST_PART >> 20} MiB")


def pack(data: bytes) -> bytes:
    """A blob's stored form."""
    if len(data) > LARGEST_PART:
        raise InvalidRequest(
            f"{len(data) >> 20} MiB at once; split it: at most {LARGEST_PART >> 20} MiB can be kept"
        )
    return zstd.compress(data)


INSERT_BLOB = "INSERT INTO blobs VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


def blob_row(content: bytes) -> tuple[bytes, int, bytes]:
    """What INSERT_BLOB takes: content by its hash, once."""
    return wire.digest(content), len(content), pack(content)


def entry(session: str, row: Row, body: Body, counts: tuple[int, ...]) -> Entry:
    """The entry of a row of `entries` (place, id, kind, role, created, completed, data)."""
    at, id, _, _, created, completed, data = row
    if data is None:
        return Entry(
            id=id, session=session, seq=at & MOST_ENTRIES, body=body, created=created,
            completed=completed, counts=counts,
        )  # fmt: skip
    try:
        extra = wire.decode(data, Extra)
    except GARBLED as garbled:
        raise unreadable(seq_of(at), garbled) from garbled
    return Entry(
        id=id,
        session=session,
        seq=seq_of(at),
        body=body,
        created=created,
        completed=completed,
        parent=extra.parent,
        provider=extra.provider,
        model=extra.model,
        request=extra.request,
        key=extra.key,
        counts=counts,
        native=extra.native,
    )


quick_part: Callable[[bytes], Part] = msgspec.json.Decoder(Part).decode  # type: ignore[arg-type]
"""Decodes nearly every part; asking `wire` for its decoder each time costs a fifth."""


def part(place: int, data: bytes) -> Part:
    """The part that these bytes are; Corrupt, saying where, if they are none."""
    try:
        return wire.decode(data, Part)  # type: ignore[arg-type]
    except GARBLED as garbled:
        raise unreadable(seq_of(entry_of(place)), garbled) from garbled


def marker(place: int, data: bytes) -> Marker:
    """The marker that these bytes are; Corrupt, saying where, if they are none."""
    try:
        return wire.decode(data, Marker)  # type: ignore[arg-type]
    except GARBLED as garbled:
        raise unreadable(seq_of(place), garbled) from garbled


def unreadable(seq: int, why: Exception | str) -> Corrupt:
    """What is said of a row that cannot be read."""
    return Corrupt(
        f"entry {seq} cannot be read ({why}); its bytes are untouched: run `holdfast doctor`, "
        "which says what can be mended"
    )


def head(row: Row, parts: list[Row]) -> Head:
    """The head of an entry row and the (kind, size, estimate) rows of its parts."""
    at, id, kind, role, created = row
    return Head(
        id=id,
        seq=seq_of(at),
        kind=kind,
        role=role or "",
        created=created,
        kinds=tuple(kind for kind, _, _ in parts),
        sizes=tuple(size for _, size, _ in parts),
        counts=tuple(estimate for _, _, estimate in parts),
    )


SESSION_COLUMNS = "n, parent, fork, updated, compacted, archived, head, last_message, last_marker"


def session(row: Row, parent: str) -> SessionInfo:
    """The session of a row: SESSION_COLUMNS, then its data."""
    _, _, fork, updated, compacted, archived, head, last_message, last_marker, data = row
    try:
        said = wire.decode(data, SessionInfo)
    except GARBLED as garbled:
        raise Corrupt(
            f"a session's row cannot be read ({garbled}); run `holdfast doctor`"
        ) from garbled
    return msgspec.structs.replace(
        said,
        parent=parent,
        fork=fork,
        updated=updated,
        compacted=compacted,
        archived=archived,
        head=head,
        last_message=last_message,
        last_marker=last_marker,
    )


Moves = tuple[int, int | None, int | None, int | None, int, int]
"""How far entries move the head, the last message and the last marker; and when."""


def moves(drafts: Sequence[Draft]) -> Moves:
    """How far drafts move a session."""
    message = marker = compacted = None
    newest = drafts[0].created
    for ahead, draft in enumerate(drafts, 1):
        newest = max(newest, draft.created)
        if isinstance(draft.body, Message):
            message = ahead
        else:
            marker = ahead
            compacted = draft.created if isinstance(draft.body, Summary) else compacted
    return len(drafts), message, marker, compacted, newest, newest
