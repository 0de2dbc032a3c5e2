"""Codex does its scripted task against the strict server, which refuses nothing of it."""

from pathlib import Path

import pytest

from tests.agents import codex
from tests.agents.harness import NOTES, Place, Played, kinds, needs

ITEMS = {"message", "reasoning", "function_call", "function_call_output"}
WAYS = {
    "another provider": ({}, {"additional_tools", "custom_tool_call", "custom_tool_call_output"}),
    "an unknown model": ({"model": "strict-model"}, {"function", "namespace", "web_search"}),
    "OpenAI": ({"provider": "OpenAI"}, {"configuration_update"}),
    "OpenAI without sockets": ({"provider": "OpenAI", "sockets": True}, {"additional_tools"}),
}


def accepted(played: Played) -> set[str]:
    """Every kind of thing that was sent, nothing of it refused."""
    assert [(asked.rule, asked.refusal) for asked in played.server.refused] == []
    assert played.server.missed == []
    assert all(asked.stream for asked in played.made)
    return set[str]().union(*(kinds(asked.body) for asked in played.made))


@pytest.mark.parametrize("way", WAYS)
def test_codex_does_its_task_and_nothing_is_refused(way: str, tmp_path: Path) -> None:
    needs("codex")
    given, wanted = WAYS[way]
    played = codex.play(Place.at(tmp_path), **given)
    assert accepted(played) >= {*ITEMS, "input_image", *wanted}
    assert played.said == [NOTES, codex.AGAIN]
    assert len(played.made) == (4 if "model" in given else 5)


@pytest.mark.parametrize("provider", ["OpenAI", "Strict"])
def test_codex_compacts_and_goes_on(provider: str, tmp_path: Path) -> None:
    needs("codex")
    played = codex.compacting(Place.at(tmp_path), provider)
    seen = accepted(played)
    assert ({"compaction_trigger", "compaction"} <= seen) == (provider == "OpenAI")
    assert played.said == [NOTES, codex.AGAIN]
    assert len(played.made) == 5
