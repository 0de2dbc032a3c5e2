"""What the agent is told of itself and of where it works."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from holdfast.agent.permissions.rules import Permissions
from holdfast.core.window.fullness_notice import opening
from holdfast.engine.client import Session

SYSTEM: Final = """\
You are Holdfast, an agent that works in a directory of the user's with tools. Do what was asked,
no more and no less. Look before you change anything, and check what you changed. Be brief: say what
you did and what you found, not what you are about to do. When something fails, say so.

Much of a long conversation is no longer shown to you word for word. What left is not lost: where
you see a handle such as prt_… or #12, recall brings it back, and search_history finds what was
said."""


PLANNING: Final = """\
A plan is wanted, and nothing is to be changed yet: look around, ask where something is not clear,
and answer with the plan itself inside <proposed_plan> and </proposed_plan>, in steps that can be
checked."""


def surroundings(directory: str) -> dict[str, str]:
    """What may change from turn to turn: told at first in full, later as what has changed."""
    now = datetime.now().astimezone()
    return {
        "cwd": directory,
        "shell": os.path.basename(os.environ.get("SHELL", "/bin/sh")),
        "current_date": now.strftime("%Y-%m-%d"),
        "timezone": str(now.tzname() or now.strftime("%z")),
        "platform": platform.system(),
        "os_version": platform.release(),
    }


def surrounded(
    session: Session, giving: Mapping[str, Any], sections: Mapping[str, str]
) -> dict[str, Any]:
    """The context and the sections of a call, with what the policy and the model decide."""
    policy = session.policy()
    model = str(giving.get("model") or session.info.model)
    context = dict(giving.get("context") or {})
    if "model" in policy.environment:
        context["model"] = model
    told = {"token_budget": opening(policy, session.catalogue.profile(model)), **sections}
    return {"context": context, "sections": {name: text for name, text in told.items() if text}}


def known_sections(directory: str, rules: Permissions) -> dict[str, str]:
    """What the agent can say of itself, for the policies that have a place for it."""
    told = {"permissions": allowed(rules), "git_status": git_status(directory)}
    return {name: text for name, text in told.items() if text}


def allowed(rules: Permissions) -> str:
    """What may be done without asking, in words."""
    lines = [
        "Looking around needs no leave. Whatever else no rule allows, the user is asked about."
    ]
    for word, listed in (
        ("allowed", rules.allow),
        ("asked about", rules.ask),
        ("denied", rules.deny),
    ):
        lines += [f"{word}: {', '.join(listed)}"] if listed else []
    return "\n".join(lines)


def git_status(directory: str) -> str:
    """The branch and the commit that were checked out at the start; no program is run for it, since
    what a repository configures might run along."""
    git = Path(directory) / ".git"
    head = _line(git / "HEAD")
    if not head:
        return ""
    name = head.removeprefix("ref: ")
    if name == head:
        return f"no branch, at commit {head[:12]}"
    commit = _line(git / name) if ".." not in name else ""
    return f"branch {name.removeprefix('refs/heads/')}" + (
        f", at commit {commit[:12]}" if commit else ""
    )


def _line(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(1_024).decode("utf-8", "replace").splitlines()[0].strip()
    except (OSError, IndexError):
        return ""
