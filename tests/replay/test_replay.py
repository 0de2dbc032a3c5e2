"""The short form of the replays: a few transcripts, every policy, two windows."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.core.extract import INDEX
from holdfast.engine.inspect import recall
from holdfast.model.message import Message, ToolCall, ToolResult, tool, user
from holdfast.policies import names, policy
from tests.policies import SHED
from tests.replay import fresh, playing
from tests.replay.playing import Trial, play, sessions

FEW = ("claude", "codex", "opencode")
LARGEST = 400_000
"""Transcripts of more bytes than this wait for the long form."""


def chosen() -> list[tuple[str, Path]]:
    """The largest transcript of each kind that is not too large."""
    fitting = [(kind, file) for kind, file in sessions() if file.stat().st_size <= LARGEST]
    return [
        max((one for one in fitting if one[0] == kind), key=lambda one: one[1].stat().st_size)
        for kind in FEW
    ]


@pytest.mark.parametrize("name", names())
def test_real_transcripts_fit_and_are_valid_and_in_reach(name: str, shared_data: Path) -> None:
    for (kind, file), window in zip(chosen(), (8_192, 32_768, 8_192), strict=True):
        outcome = play(Trial(kind, file, name, window, "obeys" if kind == "codex" else ""))
        assert outcome.windows, f"no window of {file.name} could be made"
        assert not outcome.wrong


def test_a_replay_notices_what_is_wrong(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that do not come back, and a ledger that lacks a file."""
    monkeypatch.setattr(recall, "told", lambda entry: "something like it")
    monkeypatch.setattr(playing, "FACTS", {"claude": lambda file: playing.codex_facts(file)})
    wrong = [what for kind, file in chosen() for what in play(Trial(kind, file, SHED, 8_192)).wrong]
    assert any("does not come back" in what for what in wrong)
    assert any("the ledger is off" in what for what in wrong)


def test_a_replay_notices_what_is_hidden(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Policies that let new results leave, held to the law that they do not claim to keep."""
    strict = {name: replace(policy(name), keeps_unread=True) for name in names()}
    monkeypatch.setattr(playing, "policy_of", strict.__getitem__)
    found = [
        play(Trial(kind, file, name, 8_192))
        for kind, file in chosen()
        for name in ("opencode@seed", "claude-code@seed")
    ]
    assert sum(one.hidden for one in found) > 0
    assert any("is hidden" in what for one in found for what in one.wrong)


def test_what_is_new_is_told_from_what_was_appended() -> None:
    said = [
        user("look"),
        Message("assistant", (ToolCall("a", "read", "{}"), ToolCall("b", "read", "{}"))),
        tool(ToolResult("a", "the first file")),
        tool(ToolResult("b", "x" * 5_000)),
        user("and hurry"),
    ]
    assert fresh.fresh(said) == said[2:]
    shown = ["look", "the first file", "x" * 800 + "[…]", "and hurry"]
    assert fresh.hidden(said, shown, 3_000) == []
    assert fresh.hidden(said, [*shown[:1], *shown[2:]], 3_000) == ["the result of a"]
    assert fresh.hidden(said, [*shown[:2], shown[3]], 3_000) == ["the result of b"]
    assert fresh.hidden(said, shown[:3], 3_000) == ["what the user said: 'and hurry'"]
    assert fresh.hidden(said, shown, 6_000) == ["the result of b"]
    assert fresh.whole(said, 200_000) == fresh.SMALL
    assert fresh.whole(said, 1_000) == 300
    asked = {"edits": [{"type": "clear_tool_uses_20250919", "keep": {"value": 1}}]}
    assert fresh.cleared({"context_management": asked}, said)
    asked["edits"][0]["keep"] = {"value": 2}
    assert not fresh.cleared({"context_management": asked}, said)


def test_a_handle_of_ours_among_names_is_noticed() -> None:
    told = f"{INDEX}\n- src/a.py build_index #4\n- prt_01KZ4B5C6D, src/b.py #9\n- recall #12"
    assert fresh.HEADING == INDEX
    assert fresh.own_names(told) == ["- prt_01KZ4B5C6D, src/b.py #9", "- recall #12"]
    assert fresh.own_names("prt_01KZ4B5C6D is told of in prose") == []
