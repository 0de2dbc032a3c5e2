"""How the agent asks its model, said on the command line: thinking, effort, sections, budgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from holdfast.engine.settings import AgentSettings
    from holdfast.model.policy import Policy

LONGEST_SECTION = 1024 * 1024
"""A file that is named as a section is read up to so many bytes."""


def agent_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of the agent; it gets them as `how`."""
    from functools import wraps

    options = (
        click.option("--thinking", metavar="TOKENS", help="How long it may think; on, off."),
        click.option("--effort", metavar="LEVEL", help="minimal, low, medium or high."),
        click.option("--reasoning-summary", metavar="HOW", help="auto, concise or detailed."),
        click.option("--service-tier", metavar="TIER", help="How it is served, such as flex."),
        click.option("--verbosity", metavar="LEVEL", help="low, medium or high."),
        click.option("--section", "sections", metavar="NAME=TEXT", multiple=True,
                     help="A section of each request; @FILE reads its text."),
        click.option("--map-tokens", type=click.IntRange(0), metavar="N",
                     help="The repository's map takes so many tokens."),
        click.option("--max-chat-history-tokens", type=click.IntRange(0), metavar="N",
                     help="History beyond so many tokens is summarised."),
        click.option("--log-markdown", metavar="FILE",
                     help="Append what is said to a file in Aider's format."),
        click.option("--plan", is_flag=True, help="Only look, and answer with a plan."),
    )  # fmt: skip

    @wraps(function)
    def command(*words: Any, **rest: Any) -> Any:
        names = (
            "thinking", "effort", "reasoning_summary", "service_tier", "verbosity", "sections",
            "map_tokens", "max_chat_history_tokens", "plan", "log_markdown",
        )  # fmt: skip
        return function(*words, how=Asks.of({name: rest.pop(name) for name in names}), **rest)

    made: Callable[..., Any] = command
    for option in reversed(options):
        made = option(made)
    return made


@dataclass
class Asks:
    """How the agents of one command ask their models; a chat changes it as it goes."""

    settings: AgentSettings | None = None
    """None: as the settings have it."""
    plan: bool = False
    map_tokens: int | None = None
    history_tokens: int | None = None
    log: str = ""

    @property
    def given(self) -> dict[str, Any]:
        """What an agent is built with."""
        return {"asks": self.settings, "planning": self.plan, "log": self.log}

    @classmethod
    def of(cls, asks: dict[str, Any]) -> Asks:
        """What the settings say, with what the command line says instead."""
        from msgspec.structs import replace

        from holdfast.agent.request_options import own_sections, thinking_of
        from holdfast.engine.settings import settings

        told = settings().agent
        names = ("thinking", "effort", "reasoning_summary", "service_tier", "verbosity")
        said = {name: asks[name] for name in names if asks[name] is not None}
        made = replace(told, **said, sections={**told.sections, **sections_of(asks["sections"])})
        thinking_of(made.thinking)
        own_sections(made)  # a wrong name is said before anything is asked
        return cls(
            made,
            asks["plan"],
            asks["map_tokens"],
            asks["max_chat_history_tokens"],
            asks["log_markdown"] or "",
        )

    def adjusted(self, policy: str) -> str | Policy:
        """The policy with the budgets that the command line names; the name where it names none."""
        from msgspec.structs import replace

        from holdfast.engine.plugins import catalogue

        most, history = self.map_tokens, self.history_tokens
        if most is None and history is None:
            return policy
        made = catalogue().policy(policy)
        budget = made.budget
        if most is not None:
            budget = replace(
                budget, repo_map_min=min(budget.repo_map_min, most), repo_map_max=most,
                repo_map_fraction=1.0, repo_map_without_files=1,
            )  # fmt: skip
        if history is not None:
            budget = replace(
                budget, chat_history_min=history, chat_history_max=history,
                chat_history_capped=True,
            )  # fmt: skip
        return replace(made, budget=budget, repo_map="off" if most == 0 else made.repo_map)


def sections_of(words: tuple[str, ...]) -> dict[str, str]:
    """Sections as they are written on a command line."""
    from holdfast.errors import InvalidRequest

    found: dict[str, str] = {}
    for word in words:
        name, mark, text = word.partition("=")
        if not mark:
            raise InvalidRequest(f"--section {word!r} names no text; write {word}=TEXT")
        found[name.strip()] = _read(text[1:]) if text.startswith("@") else text
    return found


def _read(path: str) -> str:
    from pathlib import Path

    from holdfast.errors import InvalidRequest

    try:
        with Path(path).open("rb") as file:
            return file.read(LONGEST_SECTION).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"--section: {path} cannot be read: {error}") from error
