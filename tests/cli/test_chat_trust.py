"""Instruction files in the chat: how many act is said first, and what waits is approved there."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.chat.conversation import Conversation
from tests.cli.conversing import conversing
from tests.cli.talking import talking
from tests.knowledge.projects import project

FILES = {
    "AGENTS.md": "Use tabs.", ".claude/skills/wiki/SKILL.md": "---\nname: wiki\n---\nWrite it.",
}  # fmt: skip


def shown(talk: Conversation, act: Any) -> str:
    drawn: Any = talk.screen.console.file
    before = drawn.tell()
    act()
    return " ".join(drawn.getvalue()[before:].split())


def test_what_acts_and_what_waits_is_said_and_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path / "work", FILES)
    with conversing(tmp_path, monkeypatch) as talk:
        told = shown(talk, lambda: talk.greet(loaded=False))
        assert "2 files wait for your approval: AGENTS.md, .claude/skills/wiki/SKILL.md" in told
        monkeypatch.setattr("builtins.input", lambda _: "n")
        told = shown(talk, lambda: talk._heard("/trust"))
        assert "Use tabs." in told
        assert "now act: none" in told
        monkeypatch.setattr("builtins.input", lambda _: "y")
        told = shown(talk, lambda: talk._heard("/trust"))
        assert "now act: 1 instruction file, about 3 tokens · 1 skill" in told
        told = shown(talk, lambda: talk._heard("/instructions"))
        assert "AGENTS.md (project instructions, 3 tokens) · it is in the working" in told
        assert "nothing waits for an approval" in shown(talk, lambda: talk._heard("/trust"))
        told = shown(talk, lambda: talk.greet(loaded=False))
        assert "1 instruction file, about 3 tokens · 1 skill" in told
        assert "for your approval" not in told


def test_on_a_terminal_the_model_follows_what_was_approved_there(tmp_path: Path) -> None:
    project(tmp_path / "work", FILES)
    with talking(tmp_path, lambda asked: "All right.") as begin:
        chat = begin()
        chat.wait("2 files wait for your approval")
        chat.type("/trust")
        chat.wait("Let the agent follow 2 files?")
        chat.type("y")
        chat.wait("now act: 1 instruction file")
        chat.type("use $wiki")
        chat.wait("All right.")
        server: Any = begin.server  # type: ignore[attr-defined]
        sent = str(server.asked[0].body)
        assert "Use tabs." in sent
        assert "<name>wiki</name>" in sent
