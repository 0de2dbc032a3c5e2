"""Estimate how many tokens a text costs, from the kinds of its bytes alone, with no vocabulary.

Rule 1: every byte is of one of sixteen KINDS: a blank, a vowel, a digit, a bracket.
Rule 2: what a byte adds depends on its kind and the kind before it, and is never negative: WEIGHTS.
Rule 3: where it or the byte before it is no ASCII, what it adds is told by SCRIPTS and
        SCRIPT_WEIGHTS instead. Text that is all ASCII is therefore weighed once.
Rule 4: no token is longer than 128 bytes, so there is at least one for every 128.
Rule 5: control characters that follow one another, as a progress bar prints them, are a token each.

The weights are fitted to o200k_base by bench/fit_estimate.py. A grid of pairs is enough because
that vocabulary first cuts a text where the kind changes (a word takes its blank along, digits go by
three, a run of `=` is one piece) and then splits words mostly where unlikely letters meet. How many
tokens a word of another script takes is mostly a matter of the script.
"""

from binascii import unhexlify
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from zlib import adler32

BOUND: Final = 0.26
"""Relative error that 99 of 100 pieces of 4 kB stay within. Measured once on texts that served
neither to fit the weights nor to choose the kinds, in 45 languages and as base64 of programs: 0.19.
Short lines in languages that few tokens are spent on stray up to this. Short texts may stray
further, and so may scripts that the vocabulary hardly knows (Odia, Khmer, Amharic)."""

KINDS: Final[tuple[tuple[str, bytes], ...]] = (
    ("blank", b" \t"),
    ("break", bytes(range(9)) + bytes(range(10, 32)) + b"\x7f"),
    ("vowel", b"aeio"),
    ("other vowel", b"uy"),
    ("frequent", b"tnsrl"),
    ("common", b"dchmpg"),
    ("rare", b"bfvwk"),
    ("rarest", b"jqxz"),
    ("A", b"A"),
    ("capital", b"CDEILMNOPRST"),
    ("uncommon", b"BFGHJKQUVWXYZ"),
    ("digit", b"0123456789"),
    ("rule", b"-=*#_~.+"),
    ("punctuation", b"\"'`,;:!?()[]{}<>"),
    ("sign", b"@$%^&|/\\"),
    ("no ASCII", bytes(range(0x80, 0x100))),
)
"""Which bytes are of which kind. `A` is one of its own because base64 writes zeros with it."""

SCRIPTS: Final[tuple[tuple[str, bytes], ...]] = (
    ("blank", b" \t"),
    ("letter", bytes(range(ord("A"), ord("Z") + 1)) + bytes(range(ord("a"), ord("z") + 1))),
    ("other ASCII", bytes(b for b in range(128) if b not in b" \t" and not chr(b).isalpha())),
    ("inner 8", bytes(range(0x80, 0x90))),
    ("inner 9", bytes(range(0x90, 0xA0))),
    ("inner A", bytes(range(0xA0, 0xB0))),
    ("inner B", bytes(range(0xB0, 0xC0))),
    ("symbol", b"\xc0\xc1\xc2\xe2"),
    ("accent", b"\xc3"),
    ("latin", bytes(range(0xC4, 0xCE))),
    ("european", bytes(range(0xCE, 0xD2))),
    ("semitic", bytes(range(0xD2, 0xE0))),
    ("southern", b"\xe0"),
    ("further", b"\xe1"),
    ("ideograph", bytes(range(0xE3, 0xF0))),
    ("emoji", bytes(range(0xF0, 0x100))),
)
"""The same where text is no ASCII: first bytes in UTF-8 by what they begin (`european`: Greek and
Cyrillic; `semitic`: Hebrew and Arabic; `southern`: from Hindi to Thai; `further`: Georgian, Khmer,
much of Vietnamese), and later bytes by their high half, which tells letters of a script apart."""

# fmt: off
WEIGHTS: Final[tuple[tuple[int, ...], ...]] = (
    #  bla  bre  vow  oth  fre  com  rar  rar  A    cap  unc  dig  rul  pun  sig  no
    (  1,  32,  24,  32,  24,  20,  39,  48,   0,  23,   3, 118,  70,  40, 104,   0),  # blank
    ( 56,   4,  96,   0,  64,  32,   0,  37,  48,   0, 128,   8,  70,  80,  48,   0),  # break
    ( 24, 128,   8,   8,   5,   4,   7,   0,  32,   0,   8,  52,  48,  37,  33,   0),  # vowel
    (  6,  56,   2,  16,   1,   0,  18,  71,  35,  56,  24,  72,  37,  56,  32,   0),  # other vowel
    ( 16,  71,   2,  23,   4,   1,  35, 104,   3,   3,   3,  96,  40,  49,  32,   0),  # frequent
    ( 16, 113,   3,   2,  18,  24,   8,  53,  64,  32,  24,  69,  40,  80,   0,   0),  # common
    ( 17,  72,   8,   3,   8,  23,  16,  16,  84,  32,  24,   0,  23,  80,  16,   0),  # rare
    ( 35,   0,  32,   0,  35,  18,  56,  24,  33,  72, 104,  53,  21,  22,   0,   0),  # rarest
    (  0,  65,  80,  32,  16,  17,   7,  52,   8,   2,  53,  40,  85,  24,  18,   0),  # A
    (  0,  69,  17,  71,  33,  19,  66,  16,  49,  16,   0,  49,  24,  36,  65,   0),  # capital
    ( 17,  56,  36,  88,  81,  87, 112,  65,  96,  16,  49,  64,  64,  48,  39,   0),  # uncommon
    ( 65,  88,  19,  86, 136, 132,  64, 112,  48, 112,  88,  21,  56,  71,  16,   0),  # digit
    (  7,  55,  17,  21,  24,  22,  56,  24,  35,   5,  64,  68,   1,   0,   0,   0),  # rule
    ( 16,   4,  24,  23,  32,  52,  24,  96,  38,  21,   0,   8,  22,  16,  55,   0),  # punctuation
    (  0,   0,  98,   0,  48,  68,  24,  34,   0,  32,  66,  56,   8,   0,  40,   0),  # sign
    (  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0),  # no ASCII
)
SCRIPT_WEIGHTS: Final[tuple[tuple[int, ...], ...]] = (
    #  bla  let  oth  inn  inn  inn  inn  sym  acc  lat  eur  sem  sou  fur  ide  emo
    (  0,   0,   0,   8,   8,   8,   8,  72,  18,  48,  37,  24,  16,   5,  16,  68),  # blank
    (  0,   0,   0,   8,   8,   8,   8,  32,  50,  48,   4,  22,   8,   0,  24,   8),  # letter
    (  0,   0,   0,   8,   8,   8,   8,  72,  21,  16, 132,  83, 116, 112,   8,   8),  # other ASCII
    (  6,  56, 117,  24,   3,  24,  24,   0,   5,   0,   3,  16,   0,  23,  23,   8),  # inner 8
    (  4,   0,  80,   2,  18,  32,  16,  20,  50,  68,   0,  16,  17,   0,  36,   8),  # inner 9
    ( 16,   0,  55,   1,   8,  24,   0,   0,  24,   5,  48,   3,   0,  32,  16,   8),  # inner A
    ( 24,  24,  88,   0,   0,   0,   0,   4,  49,  34,   0,  19,  16,   0,   8,   8),  # inner B
    (  8,   8,   8,   3,  24,  56,   0,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # symbol
    (  8,   8,   8,  54,   4,  38,  17,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # accent
    (  8,   8,   8,  71,  16,  54,  16,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # latin
    (  8,   8,   8,   1,  16,  48,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # european
    (  8,   8,   8,   8,  16,   0,  16,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # semitic
    (  8,   8,   8,   8,   8,   4,  16,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # southern
    (  8,   8,   8,   3,   8,   8,   0,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # further
    (  8,   8,   8,   4,   0,  22,  32,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # ideograph
    (  8,   8,   8,   8,  32,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8,   8),  # emoji
)
# fmt: on
"""What a byte of the column's kind adds after a byte of the row's kind, in UNITs. Pairs that valid
UTF-8 does not have keep what they started from."""

UNIT: Final = 64
"""Weights are in 64ths of a token: what one more `=` adds to a long run of them."""

COARSE: Final = 16
"""A weight is `COARSE * high + low`, both 0 to 8: few levels, so that few are fitted by chance."""

_MARKED: Final = bytes(b"01"[(b < 32 and b not in b"\t\n") or b == 127] for b in range(256))
"""Control characters as 1, everything else as 0."""

_BLOCK: Final = 1 << 15
_LONGEST: Final = 128
_BLANKS: Final = b" " * 64
_HALF: Final = b" " * 32
_DRAWN: Final = tuple(line.encode() for line in "─━═")


def _table(kinds: tuple[tuple[str, bytes], ...]) -> bytes:
    table = bytearray(256)
    for kind, (_, members) in enumerate(kinds):
        for byte in members:
            table[byte] = b"0123456789abcdef"[kind]
    return bytes(table)


_KIND: Final = _table(KINDS)
_SCRIPT: Final = _table(SCRIPTS)
_WEIGHT: Final = bytes(weight for row in WEIGHTS for weight in row)
_SCRIPT_WEIGHT: Final = bytes(weight for row in SCRIPT_WEIGHTS for weight in row)
_ADDED: Final = 65_520 // max(*_WEIGHT, *_SCRIPT_WEIGHT)


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
    if not weighed.isascii():
        weight += sum(map(_script_weight, _blocks(weighed)))
    weight += _controls(data)
    return max((weight + UNIT // 2) // UNIT, -(-len(data) // _LONGEST))


def _controls(data: bytes) -> int:
    """What runs of control characters take above their weight, which is that of line breaks."""
    marked = data.translate(_MARKED)
    if b"11" not in marked:
        return 0
    runs = marked.count(b"01") + marked.startswith(b"1")
    after = marked.count(b"1") - runs
    return after * (UNIT - WEIGHTS[1][1])


def plain(data: bytes) -> bytes:
    """The text as it is weighed: long runs of blanks halved, lines of box characters as dashes."""
    data = data.replace(_BLANKS, _HALF)
    if data.isascii():
        return data
    for line in _DRAWN:
        data = data.replace(line, b"---")
    return data


def pairs(data: bytes, kinds: bytes = _KIND) -> bytes:
    """For every byte its kind in the low half and the kind before it in the high half.

    Kinds are written as hexadecimal digits, so that two neighbours read as one byte: first those
    that begin at even places, then those at odd ones.
    """
    written = b"0" + data.translate(kinds)
    whole = len(written) & ~1
    return unhexlify(written[:whole]) + unhexlify(written[1 : len(written) - 1 + len(written) % 2])


def script_pairs(data: bytes) -> bytes:
    """The same by script."""
    return pairs(data, _SCRIPT)


def _weight(block: bytes) -> int:
    weights = pairs(block).translate(_WEIGHT)
    return (adler32(weights) & 0xFFFF) - 1 if len(weights) <= _ADDED else _summed(weights)


def _script_weight(block: bytes) -> int:
    return _summed(script_pairs(block).translate(_SCRIPT_WEIGHT))


def _summed(weights: bytes) -> int:
    """The sum of all weights of a block: the low half of Adler-32 is one more, up to 65,520."""
    total = 0
    for at in range(0, len(weights), _ADDED):
        total += (adler32(weights[at : at + _ADDED]) & 0xFFFF) - 1
    return total


def _blocks(data: bytes) -> Iterator[bytes]:
    """Pieces small enough to stay in a processor's cache."""
    return (data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK))
