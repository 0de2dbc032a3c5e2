"""Estimate how many tokens a text costs, from the kinds of its bytes alone, with no vocabulary.

Rule 1: every byte is of one of sixteen KINDS: a blank, a vowel, a digit, the first byte of an ideograph.
Rule 2: what a byte adds depends on its kind and on the kind before it, and is never negative: WEIGHTS.
Rule 3: no token is longer than 128 bytes, so there is at least one for every 128.

The weights are fitted to o200k_base by bench/fit_estimate.py. A grid of pairs is enough because that
vocabulary first cuts a text where the kind changes (a word takes its blank along, digits go by three,
a run of `=` is one piece) and inside a word mostly splits where unlikely letters meet.
"""

from typing import Final

BOUND: Final = 0.25
"""Relative error not exceeded by 99 of 100 pieces of 4 kB in text the weights were not fitted to."""

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
    ("closing", b"\"'`,;:!?)]}>"),
    ("opening", b"([{<@$%^&|/\\"),
    ("continuation", bytes(range(0x80, 0xC0))),
    ("accent", bytes(range(0xC0, 0xCE)) + b"\xe2"),
    ("alphabet", bytes(range(0xCE, 0xE2))),
    ("ideograph", bytes(range(0xE3, 0xF0))),
    ("emoji", bytes(range(0xF0, 0x100))),
)
"""Which bytes are of which kind; the last four are first bytes in UTF-8, by the scripts they begin."""

# fmt: off
WEIGHTS: Final[tuple[tuple[int, ...], ...]] = (
    #bla bre vow fre com rar cap dig rul clo ope con acc alp ide emo
    ( 1, 96, 48, 48, 34, 48, 36, 136, 64, 48, 64,  8, 48, 69, 40, 84),  # blank
    (48,  0, 115, 69, 65, 16, 20, 40, 88, 83, 104,  8,  6, 68,  0,  8),  # break
    ( 6, 84,  8,  3,  0,  0, 16, 16, 49, 67, 40,  8, 56, 87,  2,  8),  # vowel
    ( 8, 81,  0,  1,  0, 24,  5, 128, 40, 64, 34,  8,  3, 56, 96,  8),  # frequent
    ( 7, 86,  5, 16,  8, 21, 40, 96, 53, 85, 50,  8,  0, 136,  0,  8),  # common
    (16, 71,  5, 16, 16, 32, 104, 64, 35, 69, 67,  8, 136, 136, 70,  8),  # rare
    ( 8, 136, 18, 24, 20, 36,  7, 101, 51, 128, 70,  8, 96, 112, 16,  8),  # capital
    (24, 82, 56, 136, 48, 88, 120, 17, 19, 56, 24,  8, 69, 32,  0,  8),  # digit
    ( 0, 24, 22, 40, 36, 56, 24, 119,  1, 49, 20,  8, 136,  0, 104,  8),  # rule
    ( 6,  0, 32, 40, 56, 40, 35, 24, 18,  3, 56,  8, 32, 96, 48, 24),  # closing
    ( 8,  0, 40, 20,  8, 24, 33, 48,  8,  0, 37,  8, 53, 36, 71,  8),  # opening
    ( 0, 135,  8, 72, 88, 72, 72, 136, 80, 32, 54,  1, 35,  0, 39, 34),  # continuation
    ( 8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  0,  8,  8,  8,  8),  # accent
    ( 8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8),  # alphabet
    ( 8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  6,  8,  8,  8,  8),  # ideograph
    ( 8,  8,  8,  8,  8,  8,  8,  8,  8,  8,  8, 56,  8,  8,  8,  8),  # emoji
)
# fmt: on

UNIT: Final = 64
"""Weights are in 64ths of a token: what one more `=` adds to a long run of them."""

COARSE: Final = 16
"""A weight is `COARSE * high + low`, both 0 to 8, so that each half can be written as set bits."""

_BLOCK: Final = 1 << 15
_LONGEST: Final = 128
_DRAWN: Final = tuple(line.encode() for line in "─━═")


def estimate(text: str) -> int:
    """About how many tokens o200k_base makes of `text`."""
    return estimate_bytes(text.encode("utf-8", "surrogatepass"))


def estimate_bytes(data: bytes) -> int:
    """About how many tokens o200k_base makes of this UTF-8; bytes that are none are counted too."""
    weight = sum(map(_weight, _blocks(plain(data))))
    return max((weight + UNIT // 2) // UNIT, -(-len(data) // _LONGEST))


def plain(data: bytes) -> bytes:
    """The same length, with lines drawn in box characters as dashes: they merge as dashes do."""
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
    """The sum of all weights of a block; set bits are counted because that is adding at C speed."""
    codes = pairs(block)
    high = int.from_bytes(codes.translate(_HIGH), "little").bit_count()
    low = int.from_bytes(codes.translate(_LOW), "little").bit_count()
    return COARSE * high + low


def _blocks(data: bytes) -> list[bytes]:
    """Pieces small enough to stay in a processor's cache."""
    if len(data) <= _BLOCK:
        return [data]
    return [data[start : start + _BLOCK] for start in range(0, len(data), _BLOCK)]


def _kind_table() -> bytes:
    table = bytearray(256)
    for kind, (_, members) in enumerate(KINDS):
        for byte in members:
            table[byte] = kind
    return bytes(table)


def _bits_table(halves: list[int]) -> bytes:
    """A table from a pair to a byte with as many bits set as the half of its weight says."""
    return bytes((1 << half) - 1 for half in halves)


_KIND: Final = _kind_table()
_HIGH: Final = _bits_table([weight // COARSE for row in WEIGHTS for weight in row])
_LOW: Final = _bits_table([weight % COARSE for row in WEIGHTS for weight in row])
