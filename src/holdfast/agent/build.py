"""An agent for a session: its tools, its rules, and what it is told of where it works."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from holdfast.agent.events import AgentEvent, EventHandler
from holdfast.agent.instructions import instructions_for
from holdfast.agent.loop import Agent
from holdfast.agent.markdown_log import MarkdownLog
from holdfast.agent.memory import memory_for
from holdfast.agent.permissions.remember import remember
from holdfast.agent.permissions.rules import permissions
from holdfast.agent.prompt import SYSTEM, known_sections, surroundings
from holdfast.agent.request_options import own_sections, request_options
from holdfast.agent.tools.repo_map import map_for
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.engine.client import Session
from holdfast.engine.settings import AgentSettings, settings
from holdfast.errors import HoldfastError
from holdfast.files import project_root
from holdfast.model.log import SessionInfo
from holdfast.ports import Provider


def workplace(session: SessionInfo) -> str:
    """Where a session's work is done: in its directory, or else in this one."""
    there = session.directory
    return there if there and os.path.isdir(there) else os.getcwd()


def agent(
    session: Session,
    provider: Provider,
    model: str,
    allow: Sequence[str],
    *,
    headless: bool = False,
    asks: AgentSettings | None = None,
    planning: bool = False,
    log: str = "",
    **seen: Any,
) -> Agent:
    """The agent that works in a session's directory, or in this one where that is not here.

    `headless` says that nobody sits at a terminal, `asks` how its model is asked where that is not
    as the settings have it, `planning` that it only looks, `log`
    a file of Markdown to write it to. `seen` says who looks on and who is
    asked: `onlooker`, `ask` and `hooks` of an Agent.
    """
    directory = workplace(session.info)
    tell: EventHandler = seen.get("onlooker", lambda _: None)
    made = _bare(session, provider, model, allow, seen)
    made.toolbox.workspace = session.workspace(directory)
    made.map = map_for(made)
    try:
        made.instructions = instructions_for(session, directory)
    except (HoldfastError, OSError) as error:
        tell(AgentEvent(kind="warning", words=f"no instruction file is read: {error}"))
    told = asks or settings().agent
    made.sections = {**known_sections(directory, made.rules), **own_sections(told)}
    made.options, made.planning = request_options(told, session.id), planning
    made.log = MarkdownLog(log) if log else None
    made.memory = memory_for(session, tell, headless=headless)
    if made.memory:
        made.memory.instruction_files = made.instructions
    return made


def _bare(
    session: Session, provider: Provider, model: str, allow: Sequence[str], seen: dict[str, Any]
) -> Agent:
    """The agent with its rules and its tools."""
    directory = workplace(session.info)
    # Rules are for the project that the work is in, whatever an imported session says it is.
    project = str(project_root(directory))
    tell: EventHandler = seen.get("onlooker", lambda _: None)
    if session.info.directory not in ("", directory):
        words = f"{session.info.directory} is not on this machine; the work goes on in {directory}"
        tell(AgentEvent(kind="warning", words=words))

    def remembered(rule: str) -> None:
        try:
            remember(project, rule)
        except (HoldfastError, OSError, ValueError) as error:
            tell(AgentEvent(kind="warning", words=f"not remembered: {error}"))

    rules = permissions(project, allow, root=directory)
    return Agent(
        session,
        provider,
        Toolbox(directory),
        rules=rules,
        remember=remembered,
        system=SYSTEM,
        giving={"model": model, "context": surroundings(directory)},
        **seen,
    )
