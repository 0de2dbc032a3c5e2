"""The agent's map of the repository it works in: what it dwells on, and when there is one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holdfast.core.window.budget import budget
from holdfast.engine.bridge import drive
from holdfast.engine.plugins import can_map, map_asked, repo_map
from holdfast.engine.usage.file_tokens import at_most
from holdfast.files import project_root
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile

if TYPE_CHECKING:
    from holdfast.agent.loop import Agent

NO_EXTRA = "a map of the repository needs tree-sitter; pip install 'holdfast[repomap]'"
NO_REPOSITORY = "this is no git repository, so there is no map; `holdfast map` makes one anywhere"


def map_for(agent: Agent) -> Any:
    """The map of an agent's repository; None where there is none, or nothing to read it with."""
    if why_none(agent):
        return None

    def asked() -> Any:
        chat = tuple(path for path, _ in agent.files.named())
        return map_asked(chat=chat, said=agent.said, refresh=_policy(agent).repo_map)

    def count(text: str) -> int:
        return at_most(_profile(agent))(text)

    return repo_map(agent.toolbox.root, count=count, asked=asked)


def why_none(agent: Agent) -> str:
    """Why an agent has no map, and what to do; empty where it may have one."""
    if not can_map():
        return NO_EXTRA
    root = project_root(agent.toolbox.root.path)
    return "" if os.path.lexists(root / ".git") else NO_REPOSITORY


def shown(agent: Agent) -> str:
    """The map as the model has it."""
    policy = _policy(agent)
    if policy.repo_map == "off":
        return f"the policy {policy.name} has no map; `holdfast map` makes one all the same"
    files = bool(agent.files.open_files())
    allowance = budget(_profile(agent), policy.budget, files=files).repo_map
    return drive(agent.map.text(allowance)) or "there is nothing here that it could show"


def _policy(agent: Agent) -> Policy:
    return agent.session.catalogue.policy(agent.session.info.policy)


def _profile(agent: Agent) -> Profile:
    return agent.session.catalogue.profile(agent.giving.get("model", agent.session.info.model))
