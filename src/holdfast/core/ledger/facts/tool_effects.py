"""What each tool call means for the ledger: when it is asked for, and when its answer is there.

Rule 1: a command is known from the moment it is asked for; a file only once the tool has answered.
Rule 2: a call that is left behind without an answer may have done its work: its file is `unknown`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from holdfast.core.ledger.facts import commands, effort, files, todos
from holdfast.core.ledger.facts.commands import Ending, created, ending
from holdfast.core.ledger.facts.exit_answers import RULE as ANSWER
from holdfast.core.ledger.facts.exit_answers import is_answer
from holdfast.core.ledger.facts.files import Touch, patched
from holdfast.core.ledger.facts.shell import command_line, scripted, scripted_patches, touched
from holdfast.core.ledger.facts.tool_dialects import TOOLS, Reading
from holdfast.core.log.tool_input import arguments, first, text_of
from holdfast.model.ledger import Ledger, Pending
from holdfast.model.message import ToolCall, ToolResult

_LOOK = Reading(deed="look")


def asked(ledger: Ledger, seq: int, call: ToolCall) -> Ledger:
    """A tool was asked for."""
    reading = TOOLS.get(call.name, _LOOK)
    pending = Pending(call=call.id, name=call.name, input=call.input, seq=seq)
    for line, rule in _lines(pending, reading):
        ledger = commands.begun(ledger, pending, line, rule)
    if reading.deed == "delegate":
        ledger = todos.delegated(ledger, pending, reading)
    return replace(ledger, pending=(*ledger.pending, pending))


def answered(ledger: Ledger, seq: int, result: ToolResult) -> Ledger:
    """A tool has answered; an answer to no known call tells nothing."""
    pending = next((one for one in ledger.pending if one.call == result.call), None)
    if pending is None:
        return ledger
    reading = TOOLS.get(pending.name, _LOOK)
    how = _judged(ending(result, reading), pending, reading)
    waiting = tuple(one for one in ledger.pending if one is not pending)
    ledger = replace(ledger, pending=waiting)
    ledger = _DEEDS[reading.deed](ledger, seq, pending, reading, how)
    if how.went_well:
        ledger = effort.counted(ledger, effort.lines_of(pending.input, reading, result.output))
    subject = _subject(pending, reading)
    if how.outcome == "failed":
        return commands.failed(ledger, seq, pending, subject, how)
    if how.went_well and reading.deed in _REPEATED:
        sure = how.outcome == "succeeded" or reading.deed != "run"
        return commands.resolved(ledger, seq, subject, _REPEATED[reading.deed]) if sure else ledger
    return ledger


def left_behind(ledger: Ledger, seq: int) -> Ledger:
    """The conversation goes on without the answers that were waited for."""
    for pending in ledger.pending:
        reading = TOOLS.get(pending.name, _LOOK)
        cut = Ending(outcome="interrupted", inferred="no-result")
        ledger = commands.ended(ledger, seq, pending, cut)
        if reading.deed == "delegate":
            ledger = todos.returned(ledger, seq, pending.call, cut)
        for found in _touches(pending, reading, ""):
            ledger = files.doubt(ledger, seq, found)
    return replace(ledger, pending=()) if ledger.pending else ledger


_REPEATED = {
    "run": "same-command-succeeded",
    "read": "same-file-read",
    "write": "same-file-written",
    "edit": "same-file-written",
    "patch": "same-file-written",
}


def _lines(pending: Pending, reading: Reading) -> Iterator[tuple[str, str]]:
    """The commands of a call, and the rule that found them."""
    if reading.deed == "run":
        line = _command(pending, reading)
        yield from [(line, "")] if line else []
    elif reading.deed == "script":
        for line in scripted(pending.input):
            yield line, "command-in-script" if line != pending.input else ""


def _command(pending: Pending, reading: Reading) -> str:
    """The command line; a local shell keeps it in an action of its own."""
    fields = arguments(pending.input)
    return command_line(first(fields, reading.subject) or first(_action(fields), reading.subject))


def _action(fields: dict[str, object]) -> dict[str, object]:
    action = fields.get("action")
    return action if isinstance(action, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _subject(pending: Pending, reading: Reading) -> str:
    if reading.deed in ("run", "script"):
        return next((line for line, _ in _lines(pending, reading)), "")
    if reading.deed == "patch":
        return ", ".join(found.path for found in _touches(pending, reading, ""))
    return text_of(arguments(pending.input), reading.subject)


def _touches(pending: Pending, reading: Reading, output: str) -> list[Touch]:
    """The files that a call changes, if it goes well."""
    fields = arguments(pending.input)
    path = text_of(fields, reading.subject)
    match reading.deed:
        case "write" if path:
            return [_written(path, text_of(fields, reading.content), created(output))]
        case "edit" if path:
            new = created(output)
            return [Touch(path=path, change="created" if new else "changed")]
        case "delete" if path:
            return [Touch(path=path, change="deleted")]
        case "patch":
            return patched(path or pending.input)
        case "run":
            return touched(_command(pending, reading))
        case "script":
            return scripted_patches(pending.input)
        case _:
            return []


def _written(path: str, content: str, new: bool | None) -> Touch:
    change = "written" if new is None else "created" if new else "changed"
    return Touch(path=path, change=change, content=content)


Deed = Callable[[Ledger, int, Pending, Reading, Ending], Ledger]


def _change(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    for found in _touches(pending, reading, how.output) if how.went_well else ():
        ledger = files.touch(ledger, seq, found)
    return ledger


def _run(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    told = Ending(output=how.output) if _thrown(reading, how) else how
    ledger = commands.ended(ledger, seq, pending, told)
    sure = how.outcome == "succeeded" or reading.deed == "script"
    return _change(ledger, seq, pending, reading, how) if sure else ledger


def _judged(how: Ending, pending: Pending, reading: Reading) -> Ending:
    """A command that has only found nothing, or a difference, has not failed."""
    asks = reading.deed == "run" and how.outcome == "failed" and how.exit == 1
    if not (asks and is_answer(_command(pending, reading))):
        return how
    return replace(how, outcome="succeeded", inferred=ANSWER)


def _thrown(reading: Reading, how: Ending) -> bool:
    """Whether a script failed, which does not say how the commands in it ended."""
    return reading.deed == "script" and how.outcome == "failed"


def _read(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    fields = arguments(pending.input)
    path = text_of(fields, reading.subject)
    if not path or not how.went_well:
        return ledger
    whole = first(fields, reading.part) is None
    return files.look(ledger, seq, path, how.output, whole=whole)


def _move(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    fields = arguments(pending.input)
    source, target = text_of(fields, reading.subject), text_of(fields, reading.target)
    if not (source and target and how.went_well):
        return ledger
    ledger = files.touch(ledger, seq, Touch(path=source, change="deleted"))
    return files.touch(ledger, seq, Touch(path=target, change="written"))


def _plan(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    return todos.planned(ledger, pending, reading) if how.went_well else ledger


def _add(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    return todos.added(ledger, pending, reading, how) if how.went_well else ledger


def _go_on(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    return todos.moved_on(ledger, pending, reading) if how.went_well else ledger


def _return(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    return todos.returned(ledger, seq, pending.call, how)


def _decide(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    return todos.decided(ledger, pending, reading, how)


def _nothing(ledger: Ledger, seq: int, pending: Pending, reading: Reading, how: Ending) -> Ledger:
    return ledger


_DEEDS: dict[str, Deed] = {
    "read": _read,
    "write": _change,
    "edit": _change,
    "delete": _change,
    "patch": _change,
    "move": _move,
    "run": _run,
    "script": _run,
    "plan": _plan,
    "task-new": _add,
    "task-set": _go_on,
    "delegate": _return,
    "ask": _decide,
    "propose": _decide,
    "look": _nothing,
}
