"""What every compaction is to dwell on: as the policy and the user's own file have it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.engine.knowledge.instruction_files import InstructionReader
from holdfast.files import config_home
from holdfast.model.message import assistant
from tests.knowledge.projects import approve


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with holdfast.open("memory:") as hf:
        yield hf


def full(hf: Holdfast, asked: list[str], **more: Any) -> Session:
    """A session with more in it than its model holds."""

    def summariser(question: Any) -> str:
        asked.append(question.system + question.prompt)
        return "The user asks about parts, one after the other, and each is fine."

    s = hf.session(model="gpt-4", summariser=summariser, **more)
    for turn in range(60):
        s.user(f"Question {turn}, please.")
        s.append(assistant(f"Answer {turn}: " + "this part is fine. " * 60))
    s.user("And now?")
    return s


@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.seed("001", 107)
@pytest.mark.seed("004", 169)
def test_files_act_on_every_compaction_a_projects_once_it_is_approved(
    hf: Holdfast, tmp_path: Path, by_hand: bool, approved: bool
) -> None:
    config_home().mkdir(parents=True, exist_ok=True)
    (config_home() / "AGENTS.md").write_text("# Compact instructions\nKeep the ports.\n")
    (tmp_path / "AGENTS.md").write_text("# Compact instructions\nKeep the names.\n")
    if approved:
        approve(InstructionReader(tmp_path), "AGENTS.md")
    asked: list[str] = []
    s = full(hf, asked, directory=tmp_path)
    _ = s.plan() if by_hand else s.window()
    assert asked
    assert all("Keep the ports." in text for text in asked)
    assert all(("Keep the names." in text) is approved for text in asked)


@pytest.mark.parametrize("like", ["holdfast", "claude-code", "aider"])
def test_what_the_policy_says_acts_on_every_compaction(
    hf: Holdfast, tmp_path: Path, like: str
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(f'like = "{like}"\nname = "mine"\ncompact_instructions = "Keep the ports."\n')
    asked: list[str] = []
    s = full(hf, asked, policy=str(mine))
    s.window()
    assert asked
    assert all("Keep the ports." in text for text in asked)
