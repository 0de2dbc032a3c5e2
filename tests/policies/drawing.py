"""What each policy sends, drawn: every section filled, before and after a compaction.

`python -m tests.policies.drawing` writes the drawings into docs/policies. What they must look like
is written by hand in test_drawings.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.errors import InvalidRequest
from holdfast.model.message import Message, Text, ToolCall, ToolResult, assistant
from holdfast.policies import names
from tests.policies.playing import Play, Voice

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/policies"
WINDOW = 200_000

SYSTEM = "You are an agent that works with tools."

SECTIONS = {
    "permissions": "Files may be written under /work/shop; commands ask first.",
    "developer": "Prefer small commits.",
    "memory": "The shop is tested with pytest.",
    "memory_guidance": "Write down what will matter in another session.",
    "session_guidance": "The user has denied one command so far.",
    "collaboration_mode": "Work on your own until it is done.",
    "realtime": "The user listens: answer in short sentences.",
    "personality": "Be friendly and brief.",
    "apps": "calendar: read only.",
    "skills": "- release: how to release (file: /work/shop/.skills/release/SKILL.md)",
    "plugins": "lint: checks every file that is written.",
    "commit_attribution": "End commit messages with: Assisted-by: an agent",
    "language": "Answer in English.",
    "output_style": "Explain what you learn on the way.",
    "mcp": "tracker: ask it before you open an issue.",
    "scratchpad": "/tmp/scratch",
    "token_budget": "200,000 tokens",
    "git_status": "branch main, 1 file changed",
    "cache_breaker": "7",
    "date": "2026-11-19",
    "read_only_files": "README.md of the shop",
    "repo_map": "login.py: def login",
}

CONTEXT = {
    "cwd": "/work/shop",
    "shell": "zsh",
    "current_date": "2026-11-19",
    "timezone": "Europe/Berlin",
    "network.enabled": "true",
    "network.allowed": "pypi.org",
    "network.denied": "*.internal",
    "subagents.reviewer": "running",
    "platform": "linux",
    "os_version": "6.8",
    "model": "claude-sonnet-4-6",
}

FILLED = " word" * 20_000
"""Text that fills a good part of the window; in a drawing it is an ellipsis."""

MOST = 16
"""So many turns or calls fill any window."""

MASKS = (
    (re.compile(r"(?: word){20,}"), " …"),
    (re.compile(r"\b(prt|ses|ent|msg|mrk)_\w+(\.\d+)?"), r"\1_…"),
    (re.compile(r"\b\d[\d,]* of [\d,]+ (tokens of your context are taken), [\d,]+"), r"n \1, n"),
    (re.compile(r"(?:\[… [^\]]*\] *\n?)+"), "[… left out …]\n"),
)  # fmt: skip


def asked(play: Play, **more: Any) -> PreparedWindow:
    """The next window with every section filled."""
    examples = (Message("user", (Text("Add a test."),)), assistant("It is added."))
    return play.session.window(
        system=SYSTEM,
        context={**CONTEXT, **more.pop("context", {})},
        sections=SECTIONS,
        instructions="Use tabs.",
        examples=examples,
        chat_files="login.py\nrepeat = 3",
        reminder="Edit with search and replace.",
        **more,
    )  # fmt: skip


def begun(name: str, turns: int = 0) -> Play:
    """A session under a policy after its first request, and after so many answered turns."""
    play = Play(name, WINDOW, Voice("The login was fixed. Nothing is open."), provider="anthropic")
    play.session.user("Fix the login.")
    asked(play)
    play.session.append(assistant("It is fixed."))
    for turn in range(1, turns + 1):
        answered(play, turn)
    return play


def answered(play: Play, turn: int) -> None:
    """One turn more: a question, and an answer that takes a good part of the window."""
    play.session.user(f"Question {turn}.")
    play.session.append(assistant(f"Answer {turn}.{FILLED}"))


def compacted(made: PreparedWindow) -> bool:
    """Whether a summary stands in a window."""
    return any(block.section == "summary" for block in made.window.blocks)


def first_turn(name: str) -> PreparedWindow:
    """The first request of a session."""
    play = Play(name, WINDOW, Voice(""), provider="anthropic")
    play.session.user("Fix the login.")
    return asked(play)


def pre_turn(name: str) -> PreparedWindow:
    """The first request of a turn before which the window was full."""
    turns = next((n for n in range(1, MOST) if _is_full(name, n)), MOST - 1)
    play = begun(name, turns)
    play.session.user("Now the logout.")
    return asked(play)


def mid_turn(name: str) -> PreparedWindow:
    """The request behind a tool's result with which the window was full in the middle of a turn."""
    turns = next((n for n in range(1, MOST) if _is_full(name, n)), MOST)
    play = begun(name, turns - 1)
    play.session.user("Now the logout.")
    made = asked(play)
    for step in range(1, MOST):
        call = ToolCall(f"c{step}", "Read", "{}")
        play.session.append(Message("assistant", (call,)))
        result = ToolResult(call.id, f"Result {step}.{FILLED[: len(FILLED) // 2]}", name="Read")
        play.session.append(Message("tool", (result,)))
        made = asked(play)
        if compacted(made):
            break
    return made


def _is_full(name: str, turns: int) -> bool:
    play = begun(name, turns)
    play.session.user("Now the logout.")
    return compacted(asked(play))


def by_hand(name: str) -> PreparedWindow:
    """The first request of a turn behind a compaction by hand."""
    play = begun(name, 3)
    with suppress(InvalidRequest):  # a policy without summaries
        play.session.apply(play.session.plan())
    play.session.user("Now the logout.")
    return asked(play)


def model_switch(name: str) -> PreparedWindow:
    """The first request to another model."""
    play = begun(name)
    play.session.user("Now the logout.")
    return asked(play, model="another-model", context={"model": "another-model"})


def smaller_model(name: str) -> PreparedWindow:
    """The first request to a model into whose window the conversation does not fit."""
    play = begun(name, 4)
    play.models.others["small-model"] = {"window": 64_000}
    play.session.user("Now the logout.")
    return asked(play, model="small-model", context={"model": "small-model"})


SCENES: dict[str, Callable[[str], PreparedWindow]] = {
    "The first turn": first_turn,
    "After a compaction before a turn": pre_turn,
    "After a compaction in the middle of a turn": mid_turn,
    "After a compaction by hand": by_hand,
    "After a switch of the model": model_switch,
    "After a switch to a model with a smaller window": smaller_model,
}


Said = tuple[str, tuple[str, ...]]
"""A message: its role, and its parts in words."""


@cache
def scenes(name: str) -> dict[str, list[Said]]:
    """Every scene under one policy, message by message."""
    return {title: messages(scene(name)) for title, scene in SCENES.items()}


def drawing(name: str) -> str:
    """Every scene under one policy in full; what is as in the first one is not drawn again."""
    first, *rest = scenes(name).items()
    known = {one for one in first[1] if _is_long(one)}
    drawn = [_scene(*first, set()), *(_scene(title, said, known) for title, said in rest)]
    return "\n\n".join(drawn) + "\n"


def _scene(title: str, said: list[Said], known: set[Said]) -> str:
    lines = [line for one in said for line in _lines(one, known)]
    return "\n".join((f"{title}:", "", *lines))


def _is_long(said: Said) -> bool:
    parts = said[1]
    return len(parts) > 1 or any("\n" in part for part in parts)


def outline(name: str) -> dict[str, list[str]]:
    """Every scene under one policy, a line for each message: each part by its first line."""
    return {
        title: [f"{role:<10}{' | '.join(map(_head, parts))}".rstrip() for role, parts in said]
        for title, said in scenes(name).items()
    }


def _head(part: str) -> str:
    """The first line of a part; of a reminder its headings as well, or what it says first."""
    first, *rest = part.rstrip().splitlines()
    if first != "<system-reminder>":
        return first.rstrip()
    headings = [line for line in rest if line.startswith("# ")]
    return " ".join((first, *(headings or rest[:1])))


def messages(made: PreparedWindow) -> list[Said]:
    """A window, message by message: the parts of one bundle are one message."""
    said: list[tuple[str, str, tuple[str, ...]]] = []
    for block in made.window.blocks:
        parts = tuple(map(_masked, map(_words, block.parts)))
        if said and block.bundle and said[-1][:2] == (block.role, block.bundle):
            said[-1] = (*said[-1][:2], (*said[-1][2], *parts))
        else:
            said.append((block.role, block.bundle, parts))
    return [(role, parts) for role, _, parts in said]


def _masked(text: str) -> str:
    for mask, shown in MASKS:
        text = mask.sub(shown, text)
    return text


def _words(part: Any) -> str:
    if isinstance(part, ToolResult):
        return f"result of {part.call}: {part.output}"
    return str(getattr(part, "text", "")) or f"call {part.id}: {part.name}"


def _lines(message: Said, known: set[Said]) -> Iterator[str]:
    role, parts = message
    if message in known:
        yield f"{role:<10} (as above) {parts[0].splitlines()[0]}"
        return
    for place, part in enumerate(parts):
        for number, line in enumerate(part.splitlines()):
            head = role if not (place or number) else "+" if not number else ""
            yield f"{head:<10} {line}".rstrip()


BEGIN = "<!-- made by tests/policies/drawing.py -->"
END = "<!-- until here -->"


def page_of(name: str) -> Path:
    """The page of a policy, which it shares with its first description."""
    return PAGES / f"{name.partition('@')[0]}.md"


def shown(page: Path) -> str:
    """What stands between the marks of a page."""
    return page.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]


def to_show(page: Path) -> str:
    """What is to stand there: each policy of the page, of its first description what differs."""
    own = page.stem
    made = [f"```text\n{drawing(own)}```"]
    seed = f"{own}@seed"
    if seed in names() and (other := differing(seed, own)):
        made.append(f"`{seed}`, where it differs:\n\n```text\n{other}```")
    return "\n" + "\n\n".join(made) + "\n"


def differing(name: str, from_name: str) -> str:
    """The scenes that one policy draws otherwise than another; what both have alike is not drawn
    again."""
    own, other = scenes(name), scenes(from_name)
    known = {one for said in other.values() for one in said if _is_long(one)}
    drawn = [_scene(title, own[title], known) for title in own if own[title] != other[title]]
    return "\n\n".join(drawn) + "\n" if drawn else ""


def write(page: Path) -> None:
    """Bring a page up to date."""
    head, _, rest = page.read_text("utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    page.write_text(f"{head}{BEGIN}{to_show(page)}{END}{tail}", "utf-8")


if __name__ == "__main__":
    for page in sorted({page_of(name) for name in names()}):
        write(page)
