"""Hooks: commands of the user's own that are run when something happens.

Rule 1: they stand in the user's configuration, never in a repository.
Rule 2: a command is told what happens as JSON on its input, and has a bounded time; none of our
        keys is in its environment.
Rule 3: one that fails, or is too slow, changes nothing; what is wrong with it is told.
"""

from __future__ import annotations

import fnmatch
import json
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from holdfast.agent.events import AgentEvent, EventHandler
from holdfast.agent.tools.shell import ran
from holdfast.engine.window.sections import fitting
from holdfast.errors import InvalidRequest
from holdfast.files import config_home
from holdfast.model.log import Clear, Entry, Summary
from holdfast.model.message import ToolCall, ToolResult
from holdfast.model.plan import Plan

SECONDS: Final = 10.0
"""How long a command has, unless it is given longer."""

CONTEXT: Final = 4_000
"""What one command may add to a conversation as context, in tokens."""

Event = Literal["session_start", "tool_output", "before_compaction", "after_compaction"]


class Command(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One command, and when it is run."""

    command: str
    tools: tuple[str, ...] = ("*",)
    """For `tool_output`: the tools whose output it sees."""
    seconds: float = SECONDS


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file of hooks: a list of commands for each thing that may happen."""

    session_start: tuple[Command, ...] = ()
    tool_output: tuple[Command, ...] = ()
    before_compaction: tuple[Command, ...] = ()
    after_compaction: tuple[Command, ...] = ()


class Hooks:
    """The commands of one user; also the engine's hook for compactions."""

    def __init__(self, table: Table, directory: str) -> None:
        self._table = table
        self._directory = directory
        self._home = threading.get_ident()
        self.tell: EventHandler = lambda _: None
        self.veto = ""
        """Which command was against the compaction that was refused last, and why."""
        self.problems: list[str] = []
        """What went wrong since somebody looked last."""

    def started(self, session: str, how: str) -> str:
        """What the commands have to say when a session begins or goes on."""
        told = self._said("session_start", {"session": session, "how": how})
        texts = (fitting(text.rstrip("\n"), CONTEXT, "session_start") for _, text in told)
        return "\n\n".join(texts)

    def sees(self, tool: str) -> bool:
        """Whether a command is to see the output of a tool."""
        return any(_meets(one, tool) for one in self._table.tool_output)

    def output(self, session: str, call: ToolCall, result: ToolResult) -> ToolResult:
        """A tool's output as the commands leave it."""
        for one in self._table.tool_output:
            if not _meets(one, call.name):
                continue
            about = {"session": session, "tool": call.name, "input": call.fields,
                     "output": result.output, "error": result.error}  # fmt: skip
            said = self._ran(one, "tool_output", about)
            told = _read(said)
            if isinstance(told.get("output"), str):
                result = replace(result, output=told["output"])
            if note := told.get("note"):
                result = replace(result, output=f"{result.output.rstrip()}\n[{note}]")
        return result

    def __call__(self, plan: Plan) -> str | Literal[False]:
        """Before a compaction: False where a command is against it, else what it adds."""
        if threading.get_ident() == self._home:
            self.tell(AgentEvent(kind="compacting", plan=plan))
        covers = [[span.first, span.last] for span in plan.covers]
        about = {"session": plan.session, "step": plan.step, "trigger": plan.trigger,
                 "policy": plan.policy, "tokens": plan.before, "frees": plan.promised,
                 "covers": covers}  # fmt: skip
        added: list[str] = []
        for one, said in self._said("before_compaction", about):
            told = _read(said)
            if why := told.get("veto"):
                self.veto = _against(one, why)
                self.problems.append(f"{self.veto} was against a compaction; none was made")
                return False
            added.append(str(told.get("instructions") or told.get("note") or ""))
        return "\n".join(filter(None, added))

    def after(self, marker: Entry) -> None:
        """After a compaction: the commands are told what came of it."""
        body = marker.body
        if not isinstance(body, Summary | Clear):
            return
        if threading.get_ident() == self._home:
            self.tell(AgentEvent(kind="compacted", entry=marker))
        about = {"session": marker.session, "entry": marker.id, "step": body.step,
                 "trigger": body.trigger, "tokens_before": body.tokens_before,
                 "tokens_after": body.tokens_after,
                 "summary": body.text if isinstance(body, Summary) else "",
                 "model": body.model if isinstance(body, Summary) else ""}  # fmt: skip
        list(self._said("after_compaction", about))

    def _said(self, event: Event, about: dict[str, Any]) -> Iterator[tuple[Command, str]]:
        """What the commands for something say, those that say anything."""
        for one in getattr(self._table, event):
            if said := self._ran(one, event, about):
                yield one, said

    def _ran(self, one: Command, event: Event, about: dict[str, Any]) -> str:
        """What a command says; nothing, and a problem, where it fails."""
        told = json.dumps({"event": event, "directory": self._directory, **about}).encode()
        try:
            ended = ran(one.command, self._directory, one.seconds, told=told, apart=True)
        except (OSError, ValueError) as error:
            return self._wrong(event, one, str(error))
        if ended.status is None:
            return self._wrong(event, one, f"was stopped after {one.seconds:g} s")
        if ended.status:
            words = ended.errors.strip().splitlines()
            why = f": {words[-1][:200]}" if words else ""
            return self._wrong(event, one, f"ended with status {ended.status}{why}")
        return ended.output if ended.output.strip() else ""

    def _wrong(self, event: Event, one: Command, why: str) -> str:
        self.problems.append(f"the {event} hook `{one.command[:80]}` {why}; it changed nothing")
        return ""


def _meets(one: Command, tool: str) -> bool:
    return any(fnmatch.fnmatchcase(tool, like) for like in one.tools)


def _against(one: Command, why: Any) -> str:
    because = f" ({why[:200]})" if isinstance(why, str) else ""
    return f"the before_compaction hook `{one.command[:80]}` of hooks.toml{because}"


def _read(said: str) -> dict[str, Any]:
    """What a command answers: JSON, or plain words that are a note."""
    try:
        told = json.loads(said) if said.lstrip().startswith("{") else None
    except ValueError:
        told = None
    return told if isinstance(told, dict) else {"note": said.strip()}


def hooks(directory: str, file: Path | None = None) -> Hooks:
    """The user's hooks; InvalidRequest where their file cannot be understood."""
    file = file or config_home() / "hooks.toml"
    try:
        table = msgspec.convert(tomllib.loads(file.read_text("utf-8")), Table)
    except FileNotFoundError:
        table = Table()
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise InvalidRequest(f"{file} cannot be read as hooks: {error}") from error
    return Hooks(table, directory)
