"""How a tool ended, read off what it answered; where nothing says, it is unknown.

Rule 1: an exit status counts only where the agent itself writes it: at the head of the answer, in
        its metadata, beside it, or in the closing lines it adds. One inside the output is none.
Rule 2: the mark of an error says that it failed. No mark says that it succeeded only for tools
        whose agent marks every failure; the rule `not-flagged` says so.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from msgspec import Struct

from holdfast.core.ledger.dialects import Reading
from holdfast.model.ledger import Outcome
from holdfast.model.message import ToolResult


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
