"""Skills: instructions for one kind of work, listed for a model and given to it when they apply.

Rule 1: a skill is the file SKILL.md of a directory, with a name and a description at its head. Of
        two with one name the more specific holds: the project's, then the user's, then a plug-in's.
Rule 2: the list has a budget: descriptions are cut first, then whole skills go, and their number is
        said. What a skill says is not in the list.
Rule 3: `@name` or `$name` in what the user says gives the model the skill in full.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from holdfast.core.knowledge.hidden_unicode import Hidden
from holdfast.core.knowledge.instructions import ASKS, State
from holdfast.core.tokens.estimate import estimate
from holdfast.core.window.scaffold import around, escape

FILE: Final = "SKILL.md"

DIRECTORIES: Final = (".holdfast/skills", ".claude/skills", ".agents/skills")
"""Where a project has its skills, one directory each."""

BUDGET: Final = 2_000
"""The list takes so many tokens at most."""

SHORTEST: Final = 60
"""No description is cut to fewer characters, so that it still says something."""

LONGEST: Final = 1_024
"""No more characters of a description are listed."""

NAME: Final = re.compile(r"[A-Za-z0-9][\w.:-]{0,63}")

HEAD: Final = """\
## Skills
A skill is a set of instructions for one kind of work, in a file SKILL.md.
### Available skills
"""

HOW: Final = """
### How to use skills
- Discovery: the list above is all there is in this session, with name, description and file. What
  a skill says is in its file alone.
- Trigger rules: when the user names a skill (`$name` or `@name`), or the work plainly matches what
  one is described for, use it in that turn; several may apply. Do not go on with one in later turns
  unless it is named or matches again.
- Use: where a skill is not given in full yet, read it with the tool `skill` before anything else.
  Files that it names are relative to its directory; the same tool reads those that are needed, with
  `file`.
- Missing or blocked: where a skill that was named is not in the list, or cannot be read, say so in
  a few words and do the work without it."""

Origin = Literal["project", "user", "plug-in"]


class Skill(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One skill, and whether it can be used."""

    name: str
    description: str = ""
    origin: Origin
    path: str
    """As approvals name it: relative to the project, else in full."""
    place: str
    """The file in full."""
    state: State
    why: str = ""
    text: str = ""
    """The whole file."""
    tokens: int = 0
    digest: str = ""
    hidden: tuple[Hidden, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether it is listed."""
        return self.state == "loaded"

    @property
    def asks(self) -> bool:
        """Whether there is something for the user to approve."""
        return self.state in ASKS

    @property
    def said(self) -> str:
        """What it is, for a person."""
        return f"skill {self.name}"


def listing(skills: Sequence[Skill], allowance: int) -> str:
    """The skills that can be used, as a model is told of them, within so many tokens."""
    listed = [one for one in skills if one.acts]
    if not listed:
        return ""
    left = min(allowance, BUDGET) - estimate(HEAD + HOW)
    for longest in (LONGEST, 400, 200, 100, SHORTEST):
        lines = [_line(one, longest) for one in listed]
        if sum(estimate(line) + 1 for line in lines) <= left:
            return f"{HEAD}{_joined(lines)}\n{HOW}"
    kept = list[str]()
    for line in (_line(one, SHORTEST) for one in listed):
        left -= estimate(line) + 1
        if left < 20:  # the line that says how many there are besides
            break
        kept.append(line)
    more = f"- and {len(listed) - len(kept)} more, which are not listed for want of room"
    return f"{HEAD}{_joined([*kept, more])}\n{HOW}"


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines)


def _line(one: Skill, longest: int) -> str:
    about = " ".join(one.description.split())
    about = about if len(about) <= longest else f"{about[: longest - 1].rstrip()}…"
    return f"- {one.name}: {about} (file: {one.place})"


def given(one: Skill) -> str:
    """A skill in full, as it is said to a model."""
    inner = f"<name>{escape(one.name)}</name>\n<path>{escape(one.place)}</path>\n{escape(one.text)}"
    return around("skill", inner)


_MENTION = re.compile(r"(?<![\w@$./-])[@$]([A-Za-z0-9][\w.:-]*)")


def mentioned(text: str, skills: Sequence[Skill]) -> tuple[Skill, ...]:
    """The skills that a text names with @ or $, in order, each once."""
    known = {one.name: one for one in skills if one.acts}
    names = [name if name in known else name.rstrip(".:-") for name in _MENTION.findall(text)]
    return tuple(known[name] for name in dict.fromkeys(names) if name in known)
