"""The conversation that every contender is given: invented, the same on every machine and run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

CYCLE = (
    ("user", 200),
    ("assistant", 1500),
    ("tool", 6000),
    ("assistant", 1500),
    ("tool", 6000),
    ("assistant", 1500),
)
"""One request of an agent's session: who speaks, and how many characters. The mean is 2.78 kB."""

MEAN = sum(length for _, length in CYCLE) / len(CYCLE)

_LIST = (
    "the a of to and in is that it for with as on be this from or by not are at an which if will "
    "handler login session request token window budget store entry marker summary cursor page "
    "index query result error retry timeout thread worker queue lock commit branch merge file "
    "path module class function method value type list tuple string number field column row table "
    "test failure assertion expected actual change because before after only every never must "
    "should could reads writes returns raises opens closes keeps drops counts fits grows shrinks"
)
WORDS = tuple(_LIST.split())

POOL = 400_000
"""How much text of each kind is made; messages are slices of it."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the conversation."""

    role: str
    text: str

    @property
    def size(self) -> int:
        """Its payload: the bytes of its text."""
        return len(self.text.encode())


def conversation(count: int, seed: int = 1) -> Iterator[Said]:
    """The first `count` messages."""
    source = random.Random(seed)
    for number in range(count):
        role, length = CYCLE[number % len(CYCLE)]
        yield Said(role, _slice(source, role, length))


def turns(count: int, seed: int = 2) -> list[tuple[str, str]]:
    """What is appended while the clock runs: a question and an answer, each time new."""
    source = random.Random(seed)
    return [(_slice(source, "user", 200), _slice(source, "assistant", 1500)) for _ in range(count)]


def payload(count: int) -> int:
    """The bytes of text in a conversation of this length."""
    whole, rest = divmod(count, len(CYCLE))
    return whole * sum(n for _, n in CYCLE) + sum(n for _, n in CYCLE[:rest])


def _slice(source: random.Random, role: str, length: int) -> str:
    pool = _output() if role == "tool" else _prose()
    start = source.randrange(POOL - length)
    return pool[start : start + length]


@cache
def _prose() -> str:
    source = random.Random("prose")
    sentences: list[str] = []
    length = 0
    while length < POOL:
        words = source.choices(WORDS, k=source.randint(5, 18))
        sentences.append(f"{' '.join(words).capitalize()}.")
        length += len(sentences[-1]) + 1
    return " ".join(sentences)[:POOL]


@cache
def _output() -> str:
    """What tools print: listings, code, records."""
    source = random.Random("output")
    lines: list[str] = []
    length = 0
    while length < POOL:
        lines.append(source.choice((_listing, _code, _record))(source))
        length += len(lines[-1]) + 1
    return "\n".join(lines)[:POOL]


def _listing(source: random.Random) -> str:
    name = "/".join(source.choices(WORDS, k=3))
    return f"-rw-r--r-- 1 user user {source.randrange(90_000):6} src/{name}.py"


def _code(source: random.Random) -> str:
    one, two, three = source.choices(WORDS, k=3)
    return f"    {one}_{two} = self.{three}({one!r}, {source.randrange(1000)})"


def _record(source: random.Random) -> str:
    one, two = source.choices(WORDS, k=2)
    return (
        f'{{"id": "{source.getrandbits(64):016x}", "{one}": "{two}", "ms": {source.random():.4f}}}'
    )
