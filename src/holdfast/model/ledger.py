"""The ledger: the exact facts of a session, computed from its log.

Rule 1: what the log says stands as it was said; every item names the entry it comes from.
Rule 2: what can only be inferred says so: `inferred` is the name of the rule that inferred it.
Rule 3: what nobody told is unknown: an exit status of None, an outcome `unknown`. No guesses.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Status = Literal["open", "answered", "interrupted"]
Fate = Literal["", "superseded", "done"]
Change = Literal["none", "created", "changed", "written", "deleted", "unknown"]
Outcome = Literal["succeeded", "failed", "refused", "interrupted", "running", "unknown"]
Progress = Literal["pending", "in_progress", "completed", "cancelled", "unknown"]


class Request(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Something the user asked for, word for word, and where it stands."""

    seq: int
    id: str
    text: str
    status: Status = "open"
    ended: int = 0
    """The entry that ended it; 0 while it is open."""
    fate: Fate = ""
    """What later words make of it, as far as that can be inferred."""
    fated: int = 0
    """The entry with those words."""
    inferred: str = ""


class Wish(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A sentence of the user's that constrains the work, or corrects what was done."""

    seq: int
    text: str
    inferred: str
    """The rules that recognised it, parted by blanks."""


class File(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A file as the log last shows it; paths are as they were written."""

    path: str
    change: Change = "none"
    """`written` says that nobody told whether it was there before."""
    read: int = 0
    """The last entry that showed its content; 0 for never."""
    seq: int
    """The last entry that concerns it."""
    lines: int | None = None
    size: int | None = None
    """In bytes, where the whole content is in the log."""
    hash: str = ""
    """SHA-256 of that content."""
    inferred: str = ""


class Command(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A command line as it was given, and how it ended."""

    seq: int
    call: str
    line: str
    exit: int | None = None
    """None where nobody told."""
    outcome: Outcome = "unknown"
    ended: int = 0
    tool: str = ""
    inferred: str = ""


class Problem(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A tool that failed: on what, and with which words."""

    seq: int
    tool: str
    subject: str
    """The command line or the path."""
    text: str
    """The beginning of what it said."""
    resolved: int = 0
    """The entry that shows it resolved; 0 where nothing shows it."""
    inferred: str = ""


class Todo(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One step of a plan."""

    text: str
    progress: Progress = "pending"
    id: str = ""


class Plan(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A list of steps as it stood from one entry on."""

    seq: int
    steps: tuple[Todo, ...]


class Work(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A subtask handed to somebody else."""

    seq: int
    call: str
    title: str
    outcome: Outcome = "running"
    ended: int = 0
    name: str = ""
    """What its keeper calls it, such as an agent's id."""
    inferred: str = ""


class Decision(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Something that was marked as decided."""

    seq: int
    text: str
    inferred: str


class Identifier(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A name, address or number that cannot be written again from memory."""

    text: str
    seq: int
    """Where it was last used."""
    uses: int = 1
    inferred: str = ""


class Pending(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A tool call whose result is not there yet."""

    call: str
    name: str
    input: str
    seq: int


class Turnback(Struct, frozen=True, array_like=True):
    """A rewind, or an undo or redo of one: what decides which words still count."""

    seq: int
    kind: Literal["rewind", "undo", "redo"]
    target: int


class Effort(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How much was done, and how long it took."""

    added: int = 0
    removed: int = 0
    """Lines that tools added and removed, as far as the log tells."""
    active: int = 0
    """Milliseconds between entries that follow each other closely."""
    last: int = 0
    """When the newest entry was made, in ms."""


class Tally(Struct, frozen=True, array_like=True):
    """Items that are only counted any more, and the entries they are to be read in."""

    count: int
    first: int
    last: int


class Earlier(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What was folded out of a ledger so that it stays small."""

    upto: int = 0
    """Up to this entry it is settled which words count; a rewind further back reads them anew."""
    folded: dict[str, Tally] = {}
    """What is only counted, by the title of its section."""


class Ledger(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Everything that is known of a session, up to and including one entry.

    It holds what a rewind left behind as well, since a rewind can be undone; `core.ledger.current`
    leaves that out. What is old is folded into `earlier`, so that it never grows beyond a bound.
    """

    seq: int = 0
    requests: tuple[Request, ...] = ()
    constraints: tuple[Wish, ...] = ()
    corrections: tuple[Wish, ...] = ()
    files: dict[str, File] = {}
    commands: tuple[Command, ...] = ()
    problems: tuple[Problem, ...] = ()
    plans: tuple[Plan, ...] = ()
    subtasks: tuple[Work, ...] = ()
    decisions: tuple[Decision, ...] = ()
    identifiers: dict[str, Identifier] = {}
    pending: tuple[Pending, ...] = ()
    """Calls that wait for their results, in order."""
    cut: bool = False
    """Whether the newest reply was cut short."""
    turnbacks: tuple[Turnback, ...] = ()
    effort: Effort = Effort()
    earlier: Earlier = Earlier()
    weight: int = 0
    """About how many bytes its items take when they are written."""
    since: int = 0
    """The first entry it was computed from; 0 where it is computed from all of them."""


State = Literal["retained", "recoverable", "missing", "changed"]


class Retention(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What became of one item of the ledger."""

    kind: str
    seq: int
    text: str
    state: State
    why: str = ""


class Report(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What became of every item of a ledger in a summary."""

    items: tuple[Retention, ...] = ()

    def of(self, state: State) -> tuple[Retention, ...]:
        """The items in this state."""
        return tuple(item for item in self.items if item.state == state)

    @property
    def counts(self) -> dict[State, int]:
        """How many items are in each state."""
        states: tuple[State, ...] = ("retained", "recoverable", "missing", "changed")
        return {state: len(self.of(state)) for state in states}


class Objection(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Something a summary says that the log does not bear out, or an open request it drops."""

    rule: str
    text: str
    """The words in question."""
    why: str
