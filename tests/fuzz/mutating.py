"""Changes to a transcript that know how it is built: its files, its records, its values, its bytes.

Every choice is taken from a `Random`: the same one makes the same input.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from tests.fuzz.forms import Form, pack, unpack
from tests.fuzz.rows import disordered

MOST = 128 * 1024
"""How many bytes an input has at most."""

STRANGE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2**31, 2**53, 2**63, 10**40, -0.5, 1e308, "", " ", "\n", "\0",
    "\ud800", "\udc00\ud800", "é“☃😀", "x" * 3_000, "../../../etc/passwd", "/dev/zero", "%s{0}",
    "$(id)", "data:image/png;base64,iVBORw0KGgo=", "https://example.invalid/x",
    "2026-01-02T03:04:05Z", "9999-12-31T23:59:59+14:00", "0001-01-01T00:00:00-23:59",
    [], {}, [[]], [None], [{}], {"": {}},
    [{"type": "text", "text": "x"}] * 30, {"type": {}}, {"type": "tool_result", "content": [7]},
    {"a": {"b": {"c": [1, {"d": None}]}}},
)  # fmt: skip
"""What may stand where something else belongs."""

BYTES = (
    b"", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\n", b"\r\n", b"\r", b"\n\n", b"{", b"}", b"[",
    b"]", b'"', b"\\", b"\\u", b"\\ud800", b",", b":", b"1e999", b"-", b"NaN", b"[" * 300,
    b'{"a":' * 1_500, b"null", b"{}\n", b"[]\n", b'"x"\n', b"\xef\xbb\xbf", b"####  \n", b"> \n",
    b"```\n", b"<<<<<<< SEARCH\n", b"# aider chat started at 2026-01-02 03:04:05\n",
    b"  ", b"\x1e", b"\x1f",
)  # fmt: skip
"""What may be put between the bytes of a file."""


def mutated(form: Form, data: bytes, rng: Random) -> bytes:
    """Another input, some changes away from this one."""
    for _ in range(1 + rng.randrange(4)):
        data = _once(form, data, rng)
    return data[:MOST]


def _once(form: Form, data: bytes, rng: Random) -> bytes:
    if form.kind == "database":
        return disordered(data, rng, lambda text: _record(text, rng, form))
    if form.kind == "files":
        return _files(data, rng, form)
    if rng.randrange(5) == 0:
        return _scribbled(data, rng)
    return (_document if form.kind == "document" else _lines)(data, rng, form)


def _lines(data: bytes, rng: Random, form: Form) -> bytes:
    lines = data.split(b"\n")
    other = rng.choice(form.seeds).split(b"\n")
    return b"\n".join(_shuffled(lines, other, rng, lambda line: _record(line, rng, form)))


def _document(data: bytes, rng: Random, form: Form) -> bytes:
    return _record(data, rng, form)


def _files(data: bytes, rng: Random, form: Form) -> bytes:
    files = unpack(data)
    if not files:
        return rng.choice(form.seeds)
    name = rng.choice(list(files))
    match rng.randrange(6):
        case 0:
            del files[name]
        case 1:
            files[name] = files[rng.choice(list(files))]
        case 2:
            files[_renamed(name, rng)] = files.pop(name)
        case 3:
            files[name] = _scribbled(files[name], rng)
        case _:
            files[name] = _record(files[name], rng, form)
    return pack(files)


def _renamed(name: str, rng: Random) -> str:
    pieces = name.split("/")
    pieces[rng.randrange(len(pieces))] = rng.choice(("x.json", "session", "part", "ses_1", "é"))
    return "/".join(pieces)


def _shuffled(
    items: list[bytes], other: list[bytes], rng: Random, change: Callable[[bytes], bytes]
) -> list[bytes]:
    """A list with an item less, more, elsewhere or changed; changed most of the time."""
    at = rng.randrange(len(items))
    match rng.randrange(10):
        case 0:
            return items[:at] + items[at + 1 :] or [b""]
        case 1:
            return [*items[:at], items[at], *items[at:]]
        case 2:
            to = rng.randrange(len(items))
            items[at], items[to] = items[to], items[at]
            return items
        case 3:
            first = rng.randrange(len(other))
            return items[:at] + other[first : first + 1 + rng.randrange(8)] + items[at:]
        case 4 if len(items) < 200:
            return items[:at] + [items[at]] * rng.randrange(2, 30) + items[at + 1 :]
        case _:
            return [*items[:at], change(items[at]), *items[at + 1 :]]


def _record(data: bytes, rng: Random, form: Form) -> bytes:
    """JSON with one value, or one key, of it changed; bytes where it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return _scribbled(data, rng)
    made = _changed(value, rng, _names(value))
    try:
        written = json.dumps(made, ensure_ascii=bool(rng.randrange(2))).encode()
    except (UnicodeEncodeError, RecursionError):
        written = json.dumps(made).encode()
    return written


def _changed(value: Any, rng: Random, names: list[str]) -> Any:
    if isinstance(value, dict) and value and rng.randrange(8):
        key = rng.choice(list(value))
        match rng.randrange(12):
            case 0:
                return {name: one for name, one in value.items() if name != key}
            case 1:
                return {rng.choice(names): value[key], **value}
            case 2:
                return {**value, key: value[rng.choice(list(value))]}
            case _:
                return {**value, key: _changed(value[key], rng, names)}
    if isinstance(value, list) and value and rng.randrange(8):
        at = rng.randrange(len(value))
        match rng.randrange(8):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value[:at] + [value[at]] * rng.randrange(2, 6) + value[at + 1 :]
            case _:
                return [*value[:at], _changed(value[at], rng, names), *value[at + 1 :]]
    return _other(value, rng, names)


def _other(value: Any, rng: Random, names: list[str]) -> Any:
    """Another value: a strange one, one that stands elsewhere in it, or one near this."""
    match rng.randrange(6):
        case 0 if isinstance(value, str):
            at = rng.randrange(len(value) + 1)
            return value[:at] + rng.choice(("\0", "\n", "é", "\ud83d", value, "")) + value[at:]
        case 1 if isinstance(value, (int, float)):
            return rng.choice((-value, value + 1, value * 1_000_000, float(value), str(value)))
        case 2 if names:
            return rng.choice(names)
        case _:
            return rng.choice(STRANGE)


def _names(value: Any, deep: int = 6) -> list[str]:
    """Every key and every short text in it: what stands for what is often one of them."""
    if isinstance(value, str):
        return [value] if len(value) < 60 else []
    if not deep or not isinstance(value, (dict, list)):
        return []
    found = list(value) if isinstance(value, dict) else []
    inner = value.values() if isinstance(value, dict) else value
    return [*found, *(name for one in inner for name in _names(one, deep - 1))]


def _scribbled(data: bytes, rng: Random) -> bytes:
    """Bytes flipped, cut out, doubled or put in."""
    at = rng.randrange(len(data) + 1)
    many = min(1 + rng.randrange(16) ** 2, len(data))
    match rng.randrange(5):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[at + many :]
        case 2:
            return data[: at + many] + data[at:]
        case 3 if at < len(data):
            return data[:at] + bytes((data[at] ^ (1 << rng.randrange(8)),)) + data[at + 1 :]
        case _:
            return data[:at] + rng.choice(BYTES) + data[at:]
