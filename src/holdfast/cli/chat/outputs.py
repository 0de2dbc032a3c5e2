"""What tools have answered in this chat, to be shown whole: `/show`, or Ctrl-O."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.cli.ui.format import many
from holdfast.cli.ui.terminal import neutral

if TYPE_CHECKING:
    from holdfast.cli.chat.conversation import Conversation
    from holdfast.cli.chat.screen import Screen
    from holdfast.model.message import ToolResult

KEPT = 200
"""So many answers are kept; what came before is still in the log."""

LINES = 400
"""No more lines of one are shown without /show N all."""

ROOM = 60
"""Letters that a line of the chat has room for, whatever the terminal."""

ALL = "all"


class Output(NamedTuple):
    """One call and what came of it."""

    number: int
    about: str
    text: str
    error: bool

    @property
    def hides(self) -> bool:
        """Whether the line that the chat shows of it leaves something out."""
        return len(self.text.splitlines()) > 1 or len(self.text) > ROOM


class Outputs:
    """The newest answers, each with the number that the chat has shown."""

    def __init__(self) -> None:
        self._kept: list[Output] = []
        self._count = 0

    def add(self, about: str, result: ToolResult) -> Output:
        """Keep what came of a call."""
        self._count += 1
        made = Output(self._count, about, result.output, result.error)
        self._kept = [*self._kept[1 - KEPT :], made]
        return made

    def clear(self) -> None:
        """Another session begins: numbers begin anew."""
        self._kept, self._count = [], 0

    def __getitem__(self, number: int) -> Output | None:
        """One by its number; the newest for 0."""
        if not number:
            return self._kept[-1] if self._kept else None
        return next((one for one in self._kept if one.number == number), None)

    def numbers(self) -> str:
        """Which there are, in words."""
        if not self._kept:
            return ""
        first, last = self._kept[0].number, self._kept[-1].number
        return f"there is {last}" if first == last else f"there are {first} to {last}"


def draw(screen: Screen, one: Output, *, whole: bool) -> None:
    """What a call wanted and what came of it, with blanks and line ends as they are."""
    from rich.text import Text

    lines = neutral(one.text).splitlines()
    half = LINES // 2
    cut = [] if whole or len(lines) <= LINES else lines[half:-half]
    screen.say(f"→ {one.about}", "cyan")
    for row in lines[:half] if cut else lines:
        screen.console.print(Text(f"  {row}"))
    if cut:
        screen.say(f"  … {many(len(cut), 'line')} between; /show {one.number} all", "yellow")
        for row in lines[-half:]:
            screen.console.print(Text(f"  {row}"))
    if not lines:
        screen.say("  no output", "dim")


def show(talk: Conversation, rest: str) -> None:
    """`/show`: the newest answer; `/show N` another, `all` every line of it."""
    words = rest.split()
    whole = ALL in words
    named = [word for word in words if word != ALL]
    kept = talk.screen.outputs
    if len(named) > 1 or not all(one.isascii() and one.isdigit() for one in named):
        talk.screen.say("/show N shows the output with that number; /show the newest one")
        return
    one = kept[int(named[0]) if named else 0]
    if one:
        draw(talk.screen, one, whole=whole)
    elif there := kept.numbers():
        talk.screen.say(f"there is no output {named[0]} here; {there}")
    else:
        talk.screen.say("no tool has answered in this chat yet; /show shows whole what one did")
