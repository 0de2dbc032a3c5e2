"""Running notes in use: reminded of what is too long, used by hand, and taken over from others."""

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core.compaction.notes import TEMPLATE
from holdfast.engine.client import Session
from holdfast.model.log import Notes, Summary
from holdfast.model.message import assistant
from tests.core.test_notes import CLAUDE
from tests.policies import NOTED

MODEL = "gpt-4"  # holds 8,192 tokens


def notes(**bodies: str) -> str:
    return "\n\n".join(
        f"# {title}\n_{about}_\n{bodies.get(title.split()[0], '')}".rstrip()
        for title, about in TEMPLATE
    )


def talk(s: Session, turns: int) -> None:
    for n in range(turns):
        s.user(f"count the things of kind {n} " + "please " * 60)
        s.append(assistant(f"there are {n} things " + "of that kind " * 60))


@pytest.mark.seed("004", 188, 189)
def test_notes_that_came_back_too_long_are_kept_and_whoever_writes_them_next_is_told(
    tmp_path: Path,
) -> None:
    asked: list[Any] = []

    def voice(question: Any) -> str:
        asked.append(question)
        return notes(Current="counting them one after another " * 90, Worklog="counted " * 900)

    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, policy=NOTED, summariser=voice)
        for n in range(3):
            talk(s, 5)
            s.user(f"go on {n}")
            s.window()
            s.append(assistant("fine"))
            assert hf.wait_for_background(10)
        assert len(asked) >= 2
        assert "too long" not in asked[0].prompt
        later = asked[1].prompt
        assert "Condense these sections" in later
        assert "Current state: " in later
        assert "1,200 is the most" in later
        stored = [e.body.text for e in s.entries() if isinstance(e.body, Notes)]
        assert "left out" not in stored[0]


@pytest.mark.seed("004", 192)
def test_a_compaction_by_hand_uses_the_notes_where_nothing_is_to_be_dwelt_on(
    tmp_path: Path,
) -> None:
    def voice(question: Any) -> str:
        return "<summary>They count things of many kinds, one after another.</summary>"

    for focus, step in (("", "notes"), ("the kinds", "compact")):
        with holdfast.open(tmp_path / f"{step}.db") as hf:
            s = hf.session(model="claude-sonnet-4-6", policy="claude-code", summariser=voice)
            talk(s, 12)
            s.append(Notes(text=notes(Current="counting"), upto=s.info.head, model="m"))
            plan = s.plan(focus=focus)
            assert plan.step == step
            s.apply(plan)
            made = next(e.body for e in s.entries() if isinstance(e.body, Summary))
            assert ("counting" in made.text) == (step == "notes")


@pytest.mark.seed("003", 9)
@pytest.mark.seed("003", 13)
def test_notes_that_claude_code_wrote_are_used_and_what_is_recent_stays(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="claude-sonnet-4-6", policy="claude-code")
        talk(s, 120)
        s.append(Notes(text=CLAUDE, upto=s.info.head))  # as an import says it: the whole
        s.user("go on")
        plan = s.plan()
        assert plan.step == "notes"
        assert "ISO weeks" in plan.summary
        assert "# Errors and corrections" in plan.summary
        s.apply(plan)
        stays = sum(b.tokens for b in s.window().blocks if b.section in ("history", "current"))
        assert 8_000 <= stays < 12_000  # 10,000 as this model is likely to count
