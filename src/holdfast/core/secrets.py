"""Secrets in text: known by their shape, or by their value.

Rule 1: `mask` is for what leaves the log (the search index, notes, exports): it goes by shape.
Rule 2: `redact` is for what enters it: the values we are configured with, wherever they turn up.
Rule 3: a pattern never goes back over what it has matched (its repeats are possessive or short),
        so the time is linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct, msgpack
from msgspec.structs import replace

from holdfast.model.log import Body
from holdfast.model.message import Opaque, Seal

T = TypeVar("T")

MASK = "[secret]"
MARK = "[redacted]"

SHORTEST = 8
"""Shorter values are placeholders (`none`, `ollama`), and common words besides."""

_packer = msgpack.Encoder()

_WORD = r"[A-Za-z0-9_-]"


def _shape(lead: str, rest: str) -> tuple[str, re.Pattern[str]]:
    """Letters that begin a secret, and the pattern; before them no word may be going on.

    The guard stands behind the letters, so that they are found at the speed of a plain search.
    """
    return lead, re.compile(f"{lead}(?<!{_WORD}{lead}){rest}")


def _shapes(first: str, *shapes: tuple[str, str]) -> tuple[str, re.Pattern[str]]:
    """Several that begin with the same letter, in one pattern: it finds that letter faster than
    each of them is looked for."""
    ways = "|".join(f"{lead[1:]}(?<!{_WORD}{lead}){rest}" for lead, rest in shapes)
    return "", re.compile(f"{first}(?:{ways})")


_SHAPES = (
    # Keys of model providers. A digit is asked for, so that sk-learn-like-names-of-things stay.
    _shape("sk-", rf"(?=[A-Za-z_-]{{0,80}}[0-9]){_WORD}{{16,}}+"),
    _shapes(
        "g",
        ("gh[pousr]_", "[A-Za-z0-9]{20,}+"),
        ("github_pat_", "[A-Za-z0-9_]{20,}+"),
        ("glpat-", rf"{_WORD}{{16,}}+"),
    ),
    _shapes("A", ("A[KS]IA", "[A-Z0-9]{16}(?![A-Za-z0-9])"), ("AIza", rf"{_WORD}{{30,}}+")),
    ("xox", re.compile(f"xox[abeoprs]-(?<!{_WORD}xox[abeoprs]-)[A-Za-z0-9-]{{10,}}+")),
    _shape("eyJ", rf"{_WORD}{{8,}}+\.eyJ{_WORD}{{8,}}+\.{_WORD}{{8,}}+"),
    # The end of a block may be missing: what a tool prints is often cut short.
    _shape(
        "-----BEGIN ",
        # A possessive group of choices is broken in Python 3.11.0 to 3.11.3; this one needs none,
        # since a dash can be taken in one way only.
        r"[A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,20}-----[A-Za-z0-9+/=\s\\,:]*+"
        r"(?:-(?!----)[A-Za-z0-9+/=\s\\,:]*+)*(?:-----END [A-Z0-9 ]{0,60}-----)?",
    ),
)

# The name before the value stays readable; only the value goes.
_AFTER = (
    ("bearer", re.compile(r"(?i)(\bbearer[ \t]{1,4})[A-Za-z0-9._~+/=-]{16,}+")),
    ("://", re.compile(r"(://[^\s:/@\"']{1,64}+:)[^\s/@\"']{3,256}+(?=@)")),
)
_BETWEEN = r"[\\\"']{0,2}[ \t]{0,4}[:=][ \t]{0,4}[\\\"']{0,2}"
_VALUE = r"[^\s\\\"'`,;&<>(){}$\[\]]{8"
"""Eight characters and more, of those that a value has."""

_NAMED = re.compile(
    r"(?i)((?:passw(?:or)?d|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    rf"|credentials?){_BETWEEN})"
    # Not what `mask` wrote, nor an expression in a program.
    rf"(?!\[secret\]){_VALUE},}}+(?![(\[{{])"
)
_NAMES = {"passw": "(?:or)?d", "pwd": "", "secret": "", "token": "", "key": "", "credential": "s?"}
"""How names for secrets begin, and how they end."""
_GIVEN = {name: re.compile(f"{end}{_BETWEEN}{_VALUE}}}") for name, end in _NAMES.items()}
_KEY = re.compile(r"(?:api|access|private)[_-]?key\Z")


def mask(text: str) -> str:
    """The text with everything that looks like a secret replaced by `[secret]`."""
    for lead, shape in _SHAPES:
        if lead in text:
            text = shape.sub(MASK, text)
    folded = text.lower()
    for lead, shape in _AFTER:
        if lead in folded and (said := shape.sub(rf"\1{MASK}", text)) != text:
            text, folded = said, said.lower()
    return _unnamed(text, folded)


def _unnamed(text: str, folded: str) -> str:
    """The text without the values of names for secrets: as the pattern has it, looking less."""
    places = sorted(_given(folded))
    if places and len(folded) != len(text):  # some letters are two in lower case
        return _NAMED.sub(rf"\1{MASK}", text)
    said, done = "", 0
    for place in places:
        if place >= done and (found := _NAMED.match(text, place)):
            said, done = f"{said}{text[done:place]}{found[1]}{MASK}", found.end()
    return said + text[done:] if done else text


def _given(folded: str) -> Iterator[int]:
    """Where names for secrets begin that something follows which may be a value."""
    for name, given in _GIVEN.items():
        at = folded.find(name)
        while at >= 0:
            end = at + len(name)
            if given.match(folded, end):
                key = _KEY.search(folded, max(at - len("private_"), 0), end)
                yield key.start() if key else at
            at = folded.find(name, end)


def redact(text: str, secrets: Sequence[str], mark: str = MARK) -> str:
    """The text with every one of these values replaced; shorter ones than `SHORTEST` stay."""
    return _redact(text, _forms(tuple(secrets)), mark)


def redacted(body: Body, secrets: Sequence[str]) -> Body:
    """The body without these values in any of its text and bytes; itself where none occurs.

    Sealed bytes that had to be changed no longer match their hash, so they are never echoed; a
    part that had to be changed loses its seal, which vouched for it as it was.
    """
    forms = _forms(tuple(secrets))
    cleaning = Cleaning(partial(_redact, forms=forms), partial(_redact_bytes, forms=forms))
    return body if _spotless(body, forms) else _scrub(body, cleaning)


def masked(value: T) -> T:
    """The value with all in it masked that looks like a secret; itself where nothing does.

    Sealed bytes and parts that had to be changed are no longer vouched for, as above.
    """
    return _scrub(value, _MASKING)


def _spotless(body: Body, forms: tuple[str, ...]) -> bool:
    """Whether none occurs: one look over a packing that writes text and bytes as they are."""
    try:
        packed = _packer.encode(body)
    except UnicodeEncodeError:  # a lone surrogate; look at every field
        return False
    return not any(form.encode("utf-8", "surrogatepass") in packed for form in forms)


@lru_cache(8)  # asked again at every append
def _forms(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """Each value as it is and as JSON writes it, the longest first: one may begin another."""
    known = [secret for secret in secrets if len(secret) >= SHORTEST]
    escaped = [json.dumps(s, ensure_ascii=a)[1:-1] for s in known for a in (True, False)]
    slashed = [form.replace("/", r"\/") for form in escaped]
    return tuple(sorted({*known, *escaped, *slashed}, key=len, reverse=True))


def _redact(text: str, forms: tuple[str, ...], mark: str = MARK) -> str:
    if not any(form in text for form in forms):
        return text
    return re.sub("|".join(map(re.escape, forms)), lambda _: mark, text)


class Cleaning(NamedTuple):
    """How text becomes clean, and how bytes do."""

    text: Callable[[str], str]
    data: Callable[[bytes], bytes]


def _scrub(value: object, clean: Cleaning) -> Any:
    """The same value without the secrets; the same object where nothing in it changes."""
    if isinstance(value, Struct):
        return _struct(value, clean)
    scrub = _SCRUBS.get(type(value))
    return scrub(value, clean) if scrub else value


def _redact_bytes(value: bytes, forms: tuple[str, ...]) -> bytes:
    for form in forms:
        value = value.replace(form.encode("utf-8", "surrogatepass"), MARK.encode())
    return value


def _mask_bytes(value: bytes) -> bytes:
    return mask(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _text(value: str, clean: Cleaning) -> str:
    return clean.text(value)


def _bytes(value: bytes, clean: Cleaning) -> bytes:
    new = clean.data(value)
    return value if new == value else new


def _items(values: Any, clean: Cleaning) -> Any:
    new = [_scrub(value, clean) for value in values]
    same = all(a is b for a, b in zip(values, new, strict=True))
    return values if same else type(values)(new)


def _table(values: dict[str, Any], clean: Cleaning) -> dict[str, Any]:
    new = {_scrub(name, clean): _scrub(value, clean) for name, value in values.items()}
    return values if new == values else new


def _struct(value: Struct, clean: Cleaning) -> Struct:
    changes: dict[str, Any] = {}
    for name in value.__struct_fields__:
        old = getattr(value, name)
        if (new := _scrub(old, clean)) is not old:
            changes[name] = new
    if changes.keys() - {"seal"} and isinstance(getattr(value, "seal", None), Seal):
        changes["seal"] = None
    if isinstance(value, (Seal, Opaque)) and "data" in changes:
        changes["hash"] = value.hash or sha256(value.data).hexdigest()
    return replace(value, **changes) if changes else value


_SCRUBS: dict[type, Callable[[Any, Cleaning], Any]] = {
    str: _text,
    bytes: _bytes,
    tuple: _items,
    list: _items,
    dict: _table,
}

_MASKING = Cleaning(mask, _mask_bytes)
