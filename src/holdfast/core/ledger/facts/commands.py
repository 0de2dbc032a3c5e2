"""Commands and how they ended, and the problems that tools ran into.

Rule 1: a problem is resolved once the same command succeeds, or the same file is read or written
        without one. That is inferred, and marked so; nothing else resolves a problem.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.facts.tool_dialects import Reading
from holdfast.model.ledger import Command, Ledger, Outcome, Pending, Problem
from holdfast.model.message import ToolResult

HEAD: Final = 300
"""How much of what a failing tool said is kept."""


def begun(ledger: Ledger, pending: Pending, line: str, rule: str = "") -> Ledger:
    """A command was given."""
    command = Command(
        seq=pending.seq,
        call=pending.call,
        line=line,
        outcome="running",
        tool=pending.name,
        inferred=rule,
    )
    return replace(ledger, commands=(*ledger.commands, command))


def ended(ledger: Ledger, seq: int, pending: Pending, how: Ending) -> Ledger:
    """The commands of a call have ended, as far as its answer tells."""
    place = len(ledger.commands)
    while place and ledger.commands[place - 1].seq >= pending.seq:
        place -= 1
    told = tuple(_ended(one, seq, pending, how) for one in ledger.commands[place:])
    return replace(ledger, commands=(*ledger.commands[:place], *told))


def _ended(command: Command, seq: int, pending: Pending, how: Ending) -> Command:
    if command.call != pending.call or command.ended:
        return command
    rule = " ".join(filter(None, (command.inferred, how.inferred)))
    return replace(command, outcome=how.outcome, exit=how.exit, ended=seq, inferred=rule)


def failed(ledger: Ledger, seq: int, pending: Pending, subject: str, how: Ending) -> Ledger:
    """A tool ran into a problem."""
    problem = Problem(seq=seq, tool=pending.name, subject=subject, text=how.output.strip()[:HEAD])
    return replace(ledger, problems=(*ledger.problems, problem))


def resolved(ledger: Ledger, seq: int, subject: str, rule: str) -> Ledger:
    """What went wrong with this command or file goes well now."""
    if not any(one.subject == subject and not one.resolved for one in ledger.problems):
        return ledger
    told = tuple(
        replace(one, resolved=seq, inferred=rule)
        if one.subject == subject and not one.resolved
        else one
        for one in ledger.problems
    )
    return replace(ledger, problems=told)


class Ending(Struct, frozen=True, kw_only=True):
    """How a tool ended."""

    outcome: Outcome = "unknown"
    exit: int | None = None
    output: str = ""
    """What it said, without what its agent put around it."""
    inferred: str = ""

    @property
    def went_well(self) -> bool:
        """Whether nothing says that it failed."""
        return self.outcome in ("succeeded", "unknown")


_HEADS = (
    re.compile(r"\AExit code: (-?\d+)\nWall time: [^\n]*\n(?:Total output lines: [^\n]*\n)"
    r"?(?:Output:\n)?"),
    re.compile(
        r"\A(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?Process exited with code (-?\d+)\n"
        r"(?:Original token count: [^\n]*\n)?(?:Output:\n)?"
    ),
    re.compile(r"\Afailed in sandbox [^\n]*? exit code: (-?\d+), "),
)  # fmt: skip
_MARKED = (
    re.compile(r"\A(?:Error: )?Exit code (-?\d+)(?:\n|\Z)"),
    re.compile(r"(?:\A|\n)Command exited with code (-?\d+)\s*\Z"),
)
"""What stands in answers that are marked as errors; anywhere else it could be the command's own."""
_TAIL = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)
_TAIL_BEGINS = ("Command: ", "Output: ")
_NOT_WELL = re.compile(r"^(?:Error|Exit Code|Signal): ", re.MULTILINE)
_OWN = re.compile(r"\[exit status (-?\d+)\]\Z")
"""What our own shell ends with."""
_RUNNING = re.compile(
    r"\A(?:Command running in background with ID:|Script running with cell ID"
    r"|(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?Process running with session ID"
    r"|Async agent launched successfully|Command was manually backgrounded|<status>running<)"
)
_REFUSED = re.compile(
    r"\A(?:The user doesn't want to (?:proceed with|take) this (?:tool use|action)"
    r"|exec command rejected by user|rejected by user|\[Operation Cancelled\]"
    r"|The user rejected permission|The user did not allow )"
)
_FAILED = re.compile(
    r"\A(?:<tool_use_error>|error: |Error: |failed in sandbox |execution error: "
    r"|verification failed"
    r"|apply_patch verification failed|Script failed|Could not find oldString)"
)
_STOPPED = re.compile(
    r"\A\[Request interrupted by user|\Aaborted by user|\ACommand aborted|\A\[interrupted"
)
_PLACED = re.compile(r"(?:file created|created successfully|wrote to new file|new file)", re.I)
_RENEWED = re.compile(r"(?:has been updated|overwrote|overwritten|updated the file)", re.I)


def ending(result: ToolResult, reading: Reading) -> Ending:
    """How the tool of this result ended."""
    text = result.output
    told = _metadata(text)
    if result.exit is not None and reading.deed == "run":
        told = (result.exit, text)
    if told is not None:
        return _by_exit(*told)
    for pattern, outcome in (
        (_REFUSED, "refused"),
        (_STOPPED, "interrupted"),
        (_RUNNING, "running"),
    ):
        if pattern.match(text):
            return Ending(outcome=cast(Outcome, outcome), output=text)
    status = _status(result) if reading.deed in ("run", "patch") else None
    if status is not None:
        return _by_exit(*status)
    return _by_mark(result, reading)


def created(text: str) -> bool | None:
    """Whether a writing tool says that the file is new; None where it does not say."""
    head = text[:400]
    if _PLACED.search(head):
        return True
    return False if _RENEWED.search(head) else None


def _by_exit(status: int, output: str) -> Ending:
    return Ending(outcome="failed" if status else "succeeded", exit=status, output=output)


def _by_mark(result: ToolResult, reading: Reading) -> Ending:
    text = result.output
    if result.error or (_FAILED.match(text) and reading.deed not in ("run", "delegate")):
        return Ending(outcome="failed", output=text)
    if reading.flagged or (reading.silent and _is_quiet(text)):
        return Ending(outcome="succeeded", output=text, inferred="not-flagged")
    return Ending(output=text)


def _is_quiet(text: str) -> bool:
    """Whether an answer in the agent's own form tells of no status, signal or error."""
    return text.startswith("Output: ") and not _NOT_WELL.search(text)


def _metadata(text: str) -> tuple[int, str] | None:
    """The status in an answer written as JSON with its metadata."""
    if not (text.startswith("{") and '"metadata"' in text):
        return None
    try:
        found: Any = json.loads(text)
        told: Any = found["metadata"]
        status: Any = told.get("exit_code", told.get("exit"))
        output = str(found.get("output", ""))
    except (ValueError, RecursionError, KeyError, AttributeError, TypeError):
        return None
    return (status, output) if isinstance(status, int) else None


def _status(result: ToolResult) -> tuple[int, str] | None:
    """The status that the agent wrote around an answer, and what is left of it."""
    text = result.output
    for pattern in (*_HEADS, *(_MARKED if result.error else ())):
        if found := pattern.search(text):
            return int(found[1]), text[: found.start()] + text[found.end() :]
    if result.name == "shell" and (own := _OWN.search(text)):
        return int(own[1]), text[: own.start()]
    if text.startswith(_TAIL_BEGINS) and (tails := _TAIL.findall(text)):
        return int(tails[-1]), text
    return None
