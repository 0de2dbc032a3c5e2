"""Claude Code does its scripted task against the strict server, which refuses nothing of it."""

from pathlib import Path

import pytest

from tests.agents import claude_code
from tests.agents.harness import Place, kinds, needs

MODELS = [
    pytest.param("", id="its own model"),
    pytest.param("claude-sonnet-4-5", id="thinking by tokens", marks=pytest.mark.long),
    pytest.param("claude-opus-4-6", id="no system messages", marks=pytest.mark.long),
]


@pytest.mark.parametrize("model", MODELS)
def test_claude_code_does_its_task_and_nothing_is_refused(model: str, tmp_path: Path) -> None:
    needs("claude")
    played = claude_code.play(Place.at(tmp_path), model)
    assert [(asked.rule, asked.refusal) for asked in played.server.refused] == []
    assert played.server.missed == []
    assert played.said[:4] == claude_code.SAID
    assert len(played.made) >= 9
    assert all(asked.stream for asked in played.made)
    seen = set[str]().union(*(kinds(asked.body) for asked in played.made))
    assert seen >= {
        *("text", "thinking", "redacted_thinking", "tool_use", "tool_result"),
        *("image", "tool_reference", "ephemeral", "clear_thinking_20251015"),
    }
    assert {asked.endpoint for asked in played.server.asked} == {"create", "count"}
