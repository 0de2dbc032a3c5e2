"""Secrets in text: known by their shape, or by their value.

Rule 1: `mask` is for what leaves the log (the search index, notes, exports): it goes by shape. A
        name such as `api_key` before a value is not enough, for programs are full of such names:
        the value must look generated, or be a password in quotes.
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

_SEGMENT = re.compile(r"[A-Za-z0-9]++")
_DIGITS = re.compile(r"[0-9]++")
_RUN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]++|[0-9]++")
"""A word or a number inside an identifier: `myHTTPKey2` has `my`, `HTTP`, `Key` and `2`."""

_WORD_LIKE = ((24, 3.6), (16, 3.0), (0, 2.5))
"""By the length of an identifier: the characters of its words and numbers at least, on average."""
_LONGEST_WORD = 24
_UNSPEAKABLE = re.compile("[b-df-hj-np-tv-xz]{6}")
"""Consonants that no word has one behind the other; an identifier as short as `strncpy` may."""


def _is_generated(value: str) -> bool:
    """Whether a value looks generated: no name that somebody made of words has such letters."""
    if "****" in value or "..." in value:
        return False  # an abbreviation of a secret
    digits = sum(map(len, _DIGITS.findall(value)))
    letters = sum(map(len, _SEGMENT.findall(value))) - digits
    if letters and digits > 0.3 * (letters + digits):
        return True
    return any(map(_is_generated_segment, _SEGMENT.findall(value)))


def _is_generated_segment(segment: str) -> bool:
    if len(segment) < SHORTEST or segment.isdecimal():
        return False
    runs, size = _RUN.findall(segment), len(segment)
    numbers = [run for run in runs if run.isdecimal()]
    return (
        len(numbers) > 1
        or sum(map(len, numbers)) > 0.3 * size
        or size < next(mean for least, mean in _WORD_LIKE if size >= least) * len(runs)
        or max(map(len, runs)) > _LONGEST_WORD
        or (size >= 12 and _UNSPEAKABLE.search(segment) is not None)
    )


def _is_given(value: str) -> bool:
    """Whether it is a value, and not the place for one in a template: `{password}`, `%s`."""
    return value[0] not in "{$<%"


# What comes before the value stays readable; only the value goes.
_JUDGED = (
    # Keys of model providers. A digit is asked for, so that sk-learn-like-names-of-things stay.
    ("sk-", re.compile(rf"()(sk-(?<!{_WORD}sk-)(?=[A-Za-z_-]{{0,80}}[0-9]){_WORD}{{16,}}+)"),
     _is_generated),
    ("bearer", re.compile(r"(?i)(\bbearer[ \t]{1,4})([A-Za-z0-9._~+/=-]{16,}+)"), _is_generated),
    ("://", re.compile(r"(://[^\s:/@\"']{1,64}+:)([^\s/@\"']{3,256}+)(?=@)"), _is_given),
)  # fmt: skip

_BETWEEN = r"[\\\"']{0,2}[ \t]{0,4}(?:=>|:=|={1,3}|:)(?![:=])[ \t]{0,4}[\\\"']{0,2}"  # never `::`
_VALUE = r"[^\s\\\"'`,;&<>(){}$\[\]]{8"
"""Eight characters and more, of those that a value has."""

_NAMED = re.compile(
    r"(?i)((passw(?:or)?d|passphrase|pwd|secret|token|credentials?"
    r"|(?:api|access|private|secret|signing|encryption|auth|master)[_-]?key)"
    rf"({_BETWEEN}))({_VALUE},}}+)"
)
_NAMES = {
    "passw": "(?:or)?d", "passphrase": "", "pwd": "", "secret": "", "token": "", "key": "",
    "credential": "s?",
}  # fmt: skip
"""How names for secrets begin, and how they end."""
_GIVEN = {name: re.compile(f"{end}{_BETWEEN}{_VALUE}}}") for name, end in _NAMES.items()}
_KEY = re.compile(r"(?:api|access|private|secret|signing|encryption|auth|master)[_-]?key\Z")
_LONGEST_KEY = len("encryption_")

_NESTED = 8
"""So many names in what another is given are judged; with more, all that follows is masked. Nobody
writes that, and judging each would take time quadratic in their number."""

_CHOSEN = ("passw", "passphrase", "pwd", "secret")
"""Names for what people choose themselves, which need not look generated."""
_IDENTIFIER = re.compile(r"[~.]?/?[A-Za-z_]\w*+(?:(?:\.|::|->|/|\?\.)[A-Za-z_]\w*+)*+")
_NOUN = re.compile(r"(?i)passw(?:or)?d|pwd|secret|token|key|credential|auth")


def mask(text: str) -> str:
    """The text with everything that looks like a secret replaced by `[secret]`."""
    for lead, shape in _SHAPES:
        if lead in text:
            text = shape.sub(MASK, text)
    folded = text.lower()
    for lead, shape, judge in _JUDGED:
        if lead in folded and (said := shape.sub(partial(_judged, judge), text)) != text:
            text, folded = said, said.lower()
    return _unnamed(text, folded)


def _judged(judge: Callable[[str], bool], found: re.Match[str]) -> str:
    return f"{found[1]}{MASK}" if judge(found[2]) else found[0]


def _unnamed(text: str, folded: str) -> str:
    """The text without the values of names for secrets: as the pattern has it, looking less."""
    places = sorted(_given(folded))
    if places and len(folded) != len(text):  # some letters are two in lower case
        places = list(range(len(text)))
    pieces: list[str] = []
    done = passed = nested = 0
    for place in places:
        if place < done or not (found := _NAMED.match(text, place)):
            continue
        nested = nested + 1 if place < passed else 0
        if nested > _NESTED or _is_secret(found):
            pieces += (text[done:place], found[1], MASK)
            done = found.end()
        passed = found.end()
    return "".join((*pieces, text[done:])) if pieces else text


def _is_secret(found: re.Match[str]) -> bool:
    """Whether what a name for secrets is given is one."""
    name, between, value = found[2], found[3], found[4].rstrip(".:!?-")
    if len(value) < SHORTEST or found.string[found.end() : found.end() + 1] in tuple("([{"):
        return False  # too short, or an expression in a program
    if _is_generated(value):
        return not _is_expression(value)
    if not name.lower().startswith(_CHOSEN) or "****" in value or "..." in value:
        return False
    if _NOUN.fullmatch(value):
        return False
    quoted = between[-1] in "\"'" or found.string[max(found.start() - 1, 0)] in "-?&"
    if quoted or not _IDENTIFIER.fullmatch(value):
        return True
    if _NOUN.search(value):
        return False
    return any(map(str.isdecimal, value)) or (name.isupper() and between == "=")


def _is_expression(value: str) -> bool:
    """Whether it names something in a program: words with dots between them."""
    parts = re.split(r"\.|::|->|\?\.", value)
    return len(parts) > 1 and not any(map(_is_generated_segment, parts)) and all(
        part.isidentifier() for part in parts
    )  # fmt: skip


def _given(folded: str) -> Iterator[int]:
    """Where names for secrets begin that something follows which may be a value."""
    for name, given in _GIVEN.items():
        at = folded.find(name)
        while at >= 0:
            end = at + len(name)
            if given.match(folded, end):
                key = _KEY.search(folded, max(at - _LONGEST_KEY, 0), end)
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
