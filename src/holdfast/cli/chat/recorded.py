"""A recorded task, played in the chat: what was typed and what a model replied come from a file.

Rule 1: only these are played. The tools run, the files change, the summary is checked, recall and
        undo do what they do, in a directory and a store that are deleted afterwards.
Rule 2: nobody is asked, nothing is sent, and nothing of the user's is read: no key, rule or hook.
Rule 3: it ends: on a terminal at a pace that can be read along, elsewhere at once.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from msgspec import Struct
from rich.text import Text

from holdfast.cli.chat.screen import Screen
from holdfast.errors import Unavailable
from holdfast.model.rate_limits import Limits

if TYPE_CHECKING:
    from holdfast.agent.loop import Agent
    from holdfast.agent.model_choice import ModelTarget
    from holdfast.engine.client import Holdfast, Session

T = TypeVar("T")

MODEL = "demo-model"
WHY = (
    "Recorded: what is typed, and what the model replies. All else really happens,\n"
    "in a directory and a store that are deleted afterwards. Ctrl-C leaves."
)
REMARK = "# "
"""What a line begins with that is said to whoever looks on, and is not typed."""

PIECE = 6
"""So many characters of a reply come at once."""


class Call(Struct):
    """One call of a tool."""

    name: str
    input: dict[str, Any]


class Reply(Struct):
    """What the model said, and which calls it asked for."""

    text: str
    calls: tuple[Call, ...] = ()

    def stream(self, number: int) -> Iterator[bytes]:
        """As Chat Completions streams the reply of that number, piece by piece."""
        for start in range(0, len(self.text), PIECE):
            yield _event({"content": self.text[start : start + PIECE]})
        for place, call in enumerate(self.calls):
            made = {"name": call.name, "arguments": json.dumps(call.input)}
            told = {
                "index": place,
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": made,
            }
            yield _event({"tool_calls": [told]})
        yield _event({}, "tool_calls" if self.calls else "stop")
        yield b"data: [DONE]\n\n"


class Task(Struct):
    """All that was recorded."""

    typed: tuple[str, ...]
    replies: tuple[Reply, ...]
    summary: str
    files: dict[str, str]


def recorded_task() -> Task:
    """The task that comes with the package."""
    import msgspec

    told = (files("holdfast.cli.chat") / "recorded_task.json").read_bytes()
    return msgspec.json.decode(told, type=Task)


class Pace(Struct, frozen=True):
    """How long things take, in seconds; nothing where nobody reads along."""

    letter: float = 0.0
    piece: float = 0.0
    thought: float = 0.0
    """Before each reply, and before each line that is typed."""


READABLE = Pace(letter=0.025, piece=0.02, thought=1.2)


class Recorded:
    """A provider whose replies were recorded."""

    blocking: ClassVar[bool] = True
    name, format = "openai", "openai-chat"

    def __init__(self, replies: Sequence[Reply], pace: Pace) -> None:
        self._replies, self._pace = enumerate(replies), pace

    @property
    def limits(self) -> Limits | None:
        return None

    async def begin(self, request: dict[str, Any]) -> Playing:
        """The next reply, whatever is asked."""
        number, reply = next(self._replies, (0, None))
        if reply is None:
            raise Unavailable("the recorded task has no more replies; run `holdfast demo` again")
        time.sleep(self._pace.thought)  # noqa: ASYNC251 - a blocking provider never suspends
        return Playing(reply.stream(number), self._pace)

    def close(self) -> None:
        """There is nothing to let go of."""


class Playing:
    """A recorded reply as it comes."""

    def __init__(self, pieces: Iterator[bytes], pace: Pace) -> None:
        self._pieces, self._pace = pieces, pace

    async def read(self) -> bytes:
        time.sleep(self._pace.piece)  # noqa: ASYNC251
        return next(self._pieces, b"")

    async def close(self) -> None:
        self._pieces = iter(())


class Player(Screen):
    """A screen at which a recorded hand types and answers."""

    def __init__(self, typed: Sequence[str], pace: Pace) -> None:
        super().__init__()
        self._typed, self._pace = iter(typed), pace
        self.left = False
        """Whether somebody has pressed Ctrl-C."""

    def prompt(self) -> str:
        """The next line that was typed; EOFError at its end, or where somebody wants to leave."""
        text = next(self._typed, None)
        if text is None or self.left:
            raise EOFError
        time.sleep(self._pace.thought)
        if text.startswith(REMARK):
            self.console.print(Text(f"\n{text}", "italic magenta"), end="")
            return ""
        self._type("\n> ", text)
        return text

    def asked(self, question: str, answers: Mapping[str, T], silence: T) -> T:
        """Yes, as the hand typed it."""
        self.rest()
        time.sleep(self._pace.thought)
        self._type(question, "y")
        return answers.get("y", silence)

    def _type(self, before: str, text: str) -> None:
        self.console.print(Text(before), end="")
        for letter in text:
            self.console.print(Text(letter, "bold"), end="", soft_wrap=True)
            time.sleep(self._pace.letter)
        self.console.print()


class Played(Struct, frozen=True):
    """The model target of the demo: it opens the recorded replies."""

    task: Task
    pace: Pace
    model: str = MODEL
    provider: str = "recorded"
    format: str = "openai-chat"
    why: str = WHY
    weights: str = ""
    url: str = ""

    def open(self, loading: object = None) -> Recorded:
        return Recorded(self.task.replies, self.pace)


def play(hf: Holdfast, folder: Path) -> bool:
    """Play the task in a store and a directory; whether it was played to its end."""
    from holdfast.agent.summariser import Voice
    from holdfast.cli.chat.conversation import Conversation
    from holdfast.cli.chat.prompt import quiet
    from holdfast.cli.chat.resume import Opener

    task = recorded_task()
    pace = READABLE if sys.stdout.isatty() else Pace()
    player = Player(task.typed, pace)
    for name, content in task.files.items():
        (folder / name).write_text(content, "utf-8")
    voice = Voice(lambda _: Recorded([Reply(task.summary)], pace))
    session = hf.session(model=MODEL, directory=folder, summariser=voice)

    def make(session: Session, provider: Any, model: str) -> Agent:
        return _agent(session, provider, folder, player)

    talking = closing(Conversation(hf, Opener(hf, voice, {}), make, player))
    with quiet(), _leaving(player), closing(voice), talking as talk, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is assumed of this model is of no interest
        talk.take(session, cast("ModelTarget", Played(task, pace)))
        talk.greet(loaded=False)
        talk.listen(player.prompt)
    return not player.left


def _agent(session: Session, provider: Any, folder: Path, player: Player) -> Agent:
    """The agent of the chat, with nobody's rules and hooks."""
    from holdfast.agent.loop import Agent
    from holdfast.agent.permissions.rules import Permissions
    from holdfast.agent.prompt import SYSTEM, surroundings
    from holdfast.agent.tools.toolbox import Toolbox

    toolbox = Toolbox(str(folder))
    return Agent(
        session, provider, toolbox, rules=Permissions(root=str(folder)), system=SYSTEM,
        onlooker=player.show, ask=lambda call: player.may(call, toolbox),
        giving={"model": MODEL, "context": surroundings(str(folder))},
    )  # fmt: skip


@contextmanager
def _leaving(player: Player) -> Iterator[None]:
    """Ctrl-C ends the task, whatever the chat would go on with."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: Any) -> None:
        player.left = True
        before(number, frame) if callable(before) else signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    told = {"id": "demo", "model": MODEL, "choices": [choice]}
    return f"data: {json.dumps(told)}\n\n".encode()
