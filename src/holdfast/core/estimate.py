"""Estimate how many tokens a text costs, from the kinds of its bytes alone, with no vocabulary.

Rule 1: every byte is of one of sixteen KINDS: a blank, a vowel, a digit, the first of an ideograph.
Rule 2: what a byte adds depends on its kind and the kind before it, and is never negative: WEIGHTS.
Rule 3: no token is longer than 128 bytes, so there is at least one for every 128.

The weights are fitted to o200k_base by bench/fit_estimate.py. A grid of pairs is enough because
that vocabulary first cuts a text where the kind changes (a word takes its blank along, digits go by
three, a run of `=` is one piece) and then splits words mostly where unlikely letters meet.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from zlib import adler32

BOUND: Final = 0.26
"""Relative error that 99 of 100 pieces of 4 kB stay within, measured once on texts that served
neither to fit the weights nor to choose the kinds. Short texts may stray further."""

KINDS: Final[tuple[tuple[str, bytes], ...]] = (
    ("blank", b" \t"),
    ("break", bytes(range(9)) + bytes(range(10, 32)) + b"\x7f"),
    ("vowel", b"aeio"),
    ("frequent", b"tnsrl"),
    ("common", b"dchumpgy"),
    ("rare", b"bfvwkjqxz"),
    ("capital", bytes(range(ord("A"), ord("Z") + 1))),
    ("digit", b"0123456789"),
    ("rule", b"-=*#_~.+"),
    ("punctuation", b"\"'`,;:!?()[]{}<>@$%^&|/\\"),
    ("inner", bytes(range(0x80, 0xC0))),
    ("symbol", b"\xc2\xe2"),
    ("accent", b"\xc0\xc1" + bytes(range(0xC3, 0xCE)) + b"\xe1"),
    ("alphabet", bytes(range(0xCE, 0xE1))),
    ("ideograph", bytes(range(0xE3, 0xF0))),
    ("emoji", bytes(range(0xF0, 0x100))),
)
"""Which bytes are of which kind; the last five are first bytes in UTF-8, by what they begin,
and `inner` is any later byte of a character."""

# fmt: off
WEIGHTS: Final[tuple[tuple[int, ...], ...]] = (
    #  bla  bre  vow  fre  com  rar  cap  dig  rul  pun  inn  sym  acc  alp  ide  emo
    (  1,  48,  49,  40,  40,  54,  40, 136,  64,  56,   8,  70,  16,  55,  32,  83),  # blank
    ( 50,   4, 120,  64,  80,  16,   8,  16,  81,  34,   8,  36,   8, 104,   7,   8),  # break
    (  5,  96,   8,   5,   0,   0,  18,   0,  56,  48,   8,   1,   0,  16,  16,   8),  # vowel
    (  8,  71,   0,   4,   0,  32,   8, 128,  40,  32,   8,   0,  56,  16,  53,   8),  # frequent
    (  0, 136,   5,  17,   8,  32,  56,  56,  48,  65,   8,   0,   0,  23,  18,   8),  # common
    (  8,  16,   6,   8,  16,  32, 120,  37,  16,  56,   8,   3,  70,  36,  33,   8),  # rare
    ( 16, 136,  17,  24,   8,  24,   8,  72,  40, 100,   8,  24,  16,  24,  24,   8),  # capital
    ( 24, 104,  66, 131, 104,  82, 136,  21,  36,  55,   8,  24,   8,  16,   3,   8),  # digit
    (  0,  39,  32,  35,  24,  66,  33,  99,   1,  48,   8,  72,   8,   0,  68,   8),  # rule
    (  8,   0,  56,  16,  40,  20,  33,  32,   8,  19,   8,  16,  40,   0,  72,   8),  # punctuation
    (  5, 120,   0,   8,  39,  83, 101, 101,  84,  23,   3,   0,   0,   3,  35,  16),  # inner
    (  8,   8,   8,   8,   8,   8,   8,   8,   8,   8,  35,   8,   8,   8,   8,   8),  # symbol
    (  8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   0,   8,   8,   8,   8,   8),  # accent
    (  8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # alphabet
    (  8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # ideograph
    (  8,   8,   8,   8,   8,   8,   8,   8,   8,   8,  50,   8,   8,   8,   8,   8),  # emoji
)
# fmt: on
"""What a byte of the column's kind adds after a byte of the row's kind, in UNITs. Pairs that valid
UTF-8 does not have keep the 8 they started from."""

UNIT: Final = 64
"""Weights are in 64ths of a token: what one more `=` adds to a long run of them."""

COARSE: Final = 16
"""A weight is `COARSE * high + low`, both 0 to 8: few levels, so that few are fitted by chance."""

_BLOCK: Final = 1 << 15
_LONGEST: Final = 128
_BLANKS: Final = b" " * 64
_HALF: Final = b" " * 32
_DRAWN: Final = tuple(line.encode() for line in "─━═")


def estimate(text: str) -> int:
    """About how many tokens o200k_base makes of `text`."""
    return estimate_bytes(text.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=64)
def recurring(text: str) -> int:
    """The same, remembered: for what is in every window, such as the system prompt."""
    return estimate(text)


def estimate_bytes(data: bytes) -> int:
    """About how many tokens o200k_base makes of this UTF-8; bytes that are none are counted too."""
    weighed = plain(data)
    weight = _weight(weighed) if len(weighed) <= _BLOCK else sum(map(_weight, _blocks(weighed)))
    return max((weight + UNIT // 2) // UNIT, -(-len(data) // _LONGEST))


def plain(data: bytes) -> bytes:
    """The text as it is weighed: long runs of blanks halved, lines of box characters as dashes."""
    data = data.replace(_BLANKS, _HALF)
    if data.isascii():
        return data
    for line in _DRAWN:
        data = data.replace(line, b"---")
    return data


def pairs(data: bytes) -> bytes:
    """For every byte its kind in the low half and the kind before it in the high half."""
    kinds = int.from_bytes(data.translate(_KIND), "little")
    return (kinds << 12 | kinds).to_bytes(len(data) + 1, "little")[: len(data)]


def _weight(block: bytes) -> int:
    """The sum of all weights of a block: the low half of Adler-32 is one more, up to 65,520."""
    weights = pairs(block).translate(_WEIGHT)
    if len(weights) <= _ADDED:
        return (adler32(weights) & 0xFFFF) - 1
    total = 0
    for at in range(0, len(weights), _ADDED):
        total += (adler32(weights[at : at + _ADDED]) & 0xFFFF) - 1
    return total


def _blocks(data: bytes) -> Iterator[bytes]:
    """Pieces small enough to stay in a processor's cache."""
    return (data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))


def _kind_table() -> bytes:
    table = bytearray(256)
    for kind, (_, members) in enumerate(KINDS):
        for byte in members:
            table[byte] = kind
    return bytes(table)


_KIND: Final = _kind_table()
_WEIGHT: Final = bytes(weight for row in WEIGHTS for weight in row)
_ADDED: Final = 65_520 // max(_WEIGHT)
