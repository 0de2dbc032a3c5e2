"""The tool that gives a model a skill in full, or a file that belongs to one."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from holdfast.core.knowledge.skills import BUDGET, given, listing
from holdfast.engine.knowledge.instructions import Instructions
from holdfast.errors import InvalidRequest
from holdfast.model.policy import Policy
from holdfast.model.window import Tool

NAME: Final = "skill"

SKILL: Final = Tool(
    name=NAME,
    description="Read a skill in full, or a file in its directory.",
    schema={
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The skill, as the list of skills has it."},
            "file": {"type": "string", "description": "A file, relative to the skill's directory."},
        },
        "required": ["name"],
    },
)


def tools(instructions: Instructions | None, policy: Policy) -> list[Tool]:
    """The tool, where there is a skill that can be used; it has the list of them where the policy
    has no section for it, as in Claude Code."""
    listed = listing(instructions.skills.found, BUDGET) if instructions else ""
    if not listed:
        return []
    if any(place.section == "skills" for place in policy.layout):
        return [SKILL]
    return [replace(SKILL, description=f"{SKILL.description}\n\n{listed}")]


def done(fields: dict[str, Any], instructions: Instructions) -> str:
    """What a call asks for."""
    name, file = fields.get("name"), fields.get("file")
    if not isinstance(name, str):
        raise InvalidRequest("skill needs name as text")
    if isinstance(file, str) and file:
        return instructions.skills.file(name, file)
    return given(instructions.skills.skill(name))
