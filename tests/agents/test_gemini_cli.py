"""Gemini CLI does its scripted task against the strict server, which refuses nothing of it."""

from pathlib import Path

from tests.agents import gemini_cli
from tests.agents.harness import NOTES, Place, needs


def test_gemini_cli_does_its_task_and_nothing_is_refused(tmp_path: Path) -> None:
    needs("gemini")
    played = gemini_cli.play(Place.at(tmp_path))
    assert [(asked.rule, asked.refusal) for asked in played.server.refused] == []
    assert played.server.missed == []
    assert played.said == [NOTES]
    assert [asked.stream for asked in played.made] == [False, True, True, True, True]
    parts = [part for turn in played.made[-1].body["contents"] for part in turn["parts"]]
    assert {name for part in parts for name in part} == {
        *("text", "functionCall", "thoughtSignature", "functionResponse", "inlineData")
    }
