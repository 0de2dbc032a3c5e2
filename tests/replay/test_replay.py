"""The short form of the replays: a few transcripts, every policy, two windows."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine import recalling
from holdfast.policies import names
from tests.policies import SHED
from tests.replay import playing
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


@pytest.mark.parametrize("policy", names())
def test_real_transcripts_fit_and_are_valid_and_in_reach(policy: str, shared_data: Path) -> None:
    for (kind, file), window in zip(chosen(), (8_192, 32_768, 8_192), strict=True):
        outcome = play(Trial(kind, file, policy, window, "obeys" if kind == "codex" else ""))
        assert outcome.windows, f"no window of {file.name} could be made"
        assert not outcome.wrong


def test_a_replay_notices_what_is_wrong(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that do not come back, and a ledger that lacks a file."""
    monkeypatch.setattr(recalling, "told", lambda entry: "something like it")
    monkeypatch.setattr(playing, "FACTS", {"claude": lambda file: playing.codex_facts(file)})
    wrong = [what for kind, file in chosen() for what in play(Trial(kind, file, SHED, 8_192)).wrong]
    assert any("does not come back" in what for what in wrong)
    assert any("the ledger is off" in what for what in wrong)
