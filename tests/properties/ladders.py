"""Long conversations in small windows, and whoever summarises them: well, badly or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from holdfast.core.tokens.count import texts
from holdfast.engine.background_threads import Threads
from holdfast.engine.bridge import drive, spoken
from holdfast.engine.calls.ask import Question
from holdfast.engine.client import Holdfast, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.model.message import Message, Text, ToolCall, assistant
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile
from holdfast.model.reply import Reply
from holdfast.model.window import Window
from holdfast.policies import names, policy
from holdfast.ports import Counter, Store
from holdfast.stores.memory import MemoryStore
from tests.policies import SHED
from tests.properties.histories import FORMATS, Small

POLICIES = (*names(), SHED)
WINDOWS = (4_096, 8_192, 32_768)
TIMEOUT = 0.02
"""How long a summariser may take in these tests, in seconds."""

_HOME = TemporaryDirectory(prefix="holdfast-policies-")


@cache
def hasty(name: str) -> str:
    """A policy file like a policy, whose summariser has no time."""
    steps = [step for step in ("summarise", "compact") if getattr(policy(name), step)]
    tables = [f"[{step}]\ntimeout = {TIMEOUT}\n" for step in steps]
    own = Path(name).stem
    file = Path(_HOME.name) / f"{own}.toml"
    file.write_text("\n".join((f'like = "{name}"\nname = "{own}"\n', *tables)), "utf-8")
    return str(file)


class Models(Small):
    """Models of one window, a weak one of half of it; those of OpenAI are counted exactly."""

    def profile(self, model: str) -> Profile:
        window = self.window // 2 if "weak" in model else self.window
        window = window * 4 if "large" in model else window
        return Profile(
            name=model,
            provider="openai" if model.startswith("gpt") else "",
            window=window,
            output_limit=4_096,
            tokenizer="o200k_base" if model.startswith("gpt") else "",
            abilities=frozenset({"cache_breakpoints", "tools", "images", "thinking"}),
        )

    def policy(self, name: str) -> Policy:
        return policy(name)


@contextmanager
def engine(window: int, store: Store | None = None) -> Iterator[Holdfast]:
    """An engine that knows these models."""
    clock = SystemClock()
    made = Engine(
        store or MemoryStore(), clock=clock, ids=Ulids(clock), lock=ThreadLock,
        catalogue=Models(window), voice=spoken, pause=Threads.pause,
    )  # fmt: skip
    with Holdfast(made) as hf:
        yield hf


class Voice:
    """A summariser of one temper; it remembers what it was asked, and holds every question to the
    laws of a question: it fits its model, and it can be sent in every format."""

    def __init__(self, temper: str, counter: Callable[[str], Counter]) -> None:
        self.temper = temper
        self.asked = 0
        self.broken: list[str] = []
        """What was wrong with the questions, since an error in here is only one more bad answer."""
        self._counter = counter
        self._lock = threading.Lock()

    def __call__(self, question: Question) -> Any:
        with self._lock:
            self.asked += 1
            try:
                _fits(question, self._counter)
                for format in FORMATS:
                    question.request(format)
            except Exception as error:
                self.broken.append(f"{type(error).__name__}: {error}")
        return TEMPERS[self.temper](question)


def _fits(question: Question, counter: Callable[[str], Counter]) -> None:
    """Law 3."""
    profile, room = question.profile, question.profile.window - question.max_tokens
    tokens = question.tokens
    if profile.tokenizer:
        tokens = exactly(question.window, counter(profile.tokenizer))
    assert tokens <= room, f"a question of {tokens} tokens in a room of {room}"


def exactly(window: Window, counter: Counter) -> int:
    """What the words of a window take, by the vocabulary of its model."""
    words = [text for block in window.blocks for part in block.parts for text in texts(part)]
    return sum(drive(counter.count(words)))


def _obeys(question: Question) -> str:
    lines = [line for line in question.prompt.splitlines() if line.startswith("the user asks")]
    told = " ".join(lines)[: question.max_tokens // 2]
    return f"<summary>What was asked and is still open: {told}. All else is done.</summary>"


def _hangs(question: Question) -> str:
    threading.Event().wait(TIMEOUT * 3)
    return "It comes too late to count for anything at all."


def _raises(question: Question) -> str:
    raise RuntimeError("the summariser is not there")


def _overflows(question: Question) -> str:
    raise RuntimeError("context_length_exceeded: your input exceeds the context window")


TEMPERS: dict[str, Callable[[Question], Any]] = {
    "obeys": _obeys,
    "garbage": lambda question: "�" * 40 + "\x00 %PDF-1.7 \x1b[31m" + "…" * 40,
    "nothing": lambda question: "",
    "blanks": lambda question: " \n " * 50,
    "dots": lambda question: ". " * 60,
    "inflates": lambda question: question.prompt * 3,
    "long": lambda question: "so many words of a summary " * question.max_tokens,
    "raises": _raises,
    "hangs": _hangs,
    "overflows": _overflows,
    "length": lambda question: Reply(message=assistant("It was cut in the mid"), stop="length"),
    "tools": lambda question: Reply(
        message=Message("assistant", (Text("I look first."), ToolCall("x", "sh", "{}"))),
        stop="tools",
    ),
    "refuses": lambda question: Reply(message=assistant("I cannot do that."), stop="refused"),
}  # fmt: skip
NEVER = frozenset(TEMPERS) - {"obeys", "inflates", "long"}
"""Of these no summary is ever accepted."""

WORDS = (
    "the user asks for a parser that reads files with care ",
    "def read(path): return open(path).read()  # noqa\n",
    "解析器必须读取文件并且保持原样不变",
    "🙂🚀 ok ",
    "0x7f3a91bc 48213 ",
    "{\"a\": [1, 2, {\"b\": null}]}, ",
)  # fmt: skip
SIZES = (12, 60, 300, 1_200, 3_000)
"""About how many tokens something has."""


def words(number: int, size: int, flavour: int) -> str:
    """A text that is nowhere else, of about so many tokens."""
    piece = WORDS[flavour % len(WORDS)]
    return f"the user asks {number}: " + piece * max(SIZES[size % len(SIZES)] // 10, 1)


KINDS = ("ask", "reply", "work", "work", "work", "window", "window", "move")
MOVES = (
    "plan", "plan since", "plan upto", "undo", "redo", "rewind", "pin", "pin entry", "switch",
    "reopen", "refused", "crossing",
)  # fmt: skip
Talk = list[tuple[str, int, int]]
numbers = st.integers(0, 40)
talks = st.lists(st.tuples(st.sampled_from(KINDS), numbers, numbers), min_size=4, max_size=28)


def rolled(random: Random) -> Talk:
    """A talk by chance."""
    return [
        (random.choice(KINDS), random.randrange(41), random.randrange(41))
        for _ in range(random.randrange(8, 28))
    ]
