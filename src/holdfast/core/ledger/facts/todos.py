"""Plans, subtasks and decisions: what the agent keeps track of in tools of its own."""

from __future__ import annotations

import re
from typing import Any, Final, cast

from msgspec.structs import replace

from holdfast.core.ledger.facts.commands import Ending
from holdfast.core.ledger.facts.tool_dialects import PROGRESS, Reading
from holdfast.core.log.tool_input import arguments, items_of, text_of
from holdfast.model.ledger import Decision, Ledger, Outcome, Pending, Plan, Progress, Todo, Work

_STEP = ("content", "step", "description", "text", "title", "subject", "task")
_NUMBER = re.compile(r"#(\S+?) created")
_AGENT = re.compile(r"(?:\bagentId: ?|\[subtask )([\w-]+)")
_ANSWERED = re.compile(r"\"([^\"\n]+)\"=\"([^\"\n]*)\"")
_MARKED = re.compile(
    r"^[ \t>*#-]*(?:\*\*)?(?:decision|decided|entscheidung|décision|decisión|决定|決定|结论)"
    r"(?:\*\*)?\s*[:：](?:\*\*)?\s*(\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_NOTICE: Final = "<task-notification>"
_TASK = re.compile(r"<task-id>([^<]*)</task-id>")
_STATUS = re.compile(r"<status>([^<]*)</status>")
_HEAD: Final = 2000
"""How far into a notice its fields are looked for."""
_OUTCOMES: Final[dict[str, Outcome]] = {
    "completed": "succeeded",
    "failed": "failed",
    "killed": "interrupted",
}


def planned(ledger: Ledger, pending: Pending, reading: Reading) -> Ledger:
    """A whole list of steps was written."""
    steps = items_of(arguments(pending.input), reading.content)
    told = tuple(
        Todo(text=text_of(step, _STEP), progress=_progress(step.get("status")), id=_id(step))
        for step in steps
    )
    return replace(ledger, plans=(*ledger.plans, Plan(seq=pending.seq, steps=told)))


def added(ledger: Ledger, pending: Pending, reading: Reading, ended: Ending) -> Ledger:
    """One step was added; its number is told in the answer."""
    number = _NUMBER.search(ended.output)
    text = text_of(arguments(pending.input), reading.subject)
    step = Todo(text=text, id=number[1] if number else "")
    steps = (*_steps(ledger), step)
    return replace(ledger, plans=(*ledger.plans, Plan(seq=pending.seq, steps=steps)))


def moved_on(ledger: Ledger, pending: Pending, reading: Reading) -> Ledger:
    """One step has made progress."""
    fields = arguments(pending.input)
    number, status = text_of(fields, reading.subject), fields.get("status")
    if status is None or all(step.id != number for step in _steps(ledger)):
        return ledger
    steps = tuple(
        replace(step, progress=_progress(status)) if step.id == number else step
        for step in _steps(ledger)
    )
    return replace(ledger, plans=(*ledger.plans, Plan(seq=pending.seq, steps=steps)))


def _steps(ledger: Ledger) -> tuple[Todo, ...]:
    return ledger.plans[-1].steps if ledger.plans else ()


def _progress(status: Any) -> Progress:
    return cast(Progress, PROGRESS.get(str(status).lower(), "unknown"))


def _id(step: dict[str, Any]) -> str:
    return str(step["id"]) if "id" in step else ""


def delegated(ledger: Ledger, pending: Pending, reading: Reading) -> Ledger:
    """A subtask was begun."""
    title = text_of(arguments(pending.input), reading.subject)
    work = Work(seq=pending.seq, call=pending.call, title=title)
    return replace(ledger, subtasks=(*ledger.subtasks, work))


def returned(ledger: Ledger, seq: int, call: str, ended: Ending) -> Ledger:
    """A subtask has come back, or is at work under a name of its own."""
    name = _AGENT.search(ended.output)
    at_work = ended.outcome == "running"
    outcome = "succeeded" if ended.outcome == "unknown" else ended.outcome
    rule = "came-back" if ended.outcome == "unknown" else ended.inferred
    told = tuple(
        replace(
            work,
            outcome=outcome,
            ended=0 if at_work else seq,
            name=name[1] if name else "",
            inferred=rule,
        )
        if work.call == call
        else work
        for work in ledger.subtasks
    )
    return replace(ledger, subtasks=told)


def noticed(ledger: Ledger, seq: int, text: str) -> Ledger:
    """The harness tells that work in the background is over."""
    for notice in text.split(_NOTICE)[1:]:
        task, status = _TASK.search(notice[:_HEAD]), _STATUS.search(notice[:_HEAD])
        if task and status and status[1] in _OUTCOMES:
            ledger = _over(ledger, seq, task[1], _OUTCOMES[status[1]])
    return ledger


def _over(ledger: Ledger, seq: int, name: str, outcome: Outcome) -> Ledger:
    told = tuple(
        replace(work, outcome=outcome, ended=seq, inferred="")
        if work.name == name and work.outcome == "running"
        else work
        for work in ledger.subtasks
    )
    return replace(ledger, subtasks=told)


def decided(ledger: Ledger, pending: Pending, reading: Reading, ended: Ending) -> Ledger:
    """The user answered a question, or approved of a plan."""
    if not ended.went_well:
        return ledger
    if reading.deed == "propose":
        plan = text_of(arguments(pending.input), reading.content)
        return _decide(ledger, pending.seq, "plan-approved", [plan.strip()])
    answers = _ANSWERED.findall(ended.output)
    told = [f"{question} → {answer}" for question, answer in answers]
    return _decide(ledger, pending.seq, "question-answered", told)


def marked(ledger: Ledger, seq: int, text: str) -> Ledger:
    """Lines that say of themselves that they are a decision."""
    return _decide(ledger, seq, "marked-as-decision", _MARKED.findall(text))


def _decide(ledger: Ledger, seq: int, rule: str, texts: list[str]) -> Ledger:
    new = tuple(Decision(seq=seq, text=text, inferred=rule) for text in texts if text)
    return replace(ledger, decisions=(*ledger.decisions, *new)) if new else ledger
