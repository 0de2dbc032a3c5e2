"""Conversations far past their windows, in short: nothing refused, nothing lost."""

from pathlib import Path

import pytest

from tests.long.driving import WHO, Trial, play

FORGETFUL = """
like = "holdfast"
name = "forgetful"

[summarise]
ledger = false
users_share = 0.0
names = 0.0
"""
"""Our own policy without all that keeps what a summary forgets."""


@pytest.mark.parametrize("window", [8_192, 32_768])
@pytest.mark.parametrize("format", WHO)
def test_an_agent_outlives_its_window_and_its_process(
    tmp_path: Path, format: str, window: int
) -> None:
    told = play(Trial(format=format, window=window, turns=40, kills=1), tmp_path)
    assert told.wrong == ()
    assert told.refused == ()
    assert told.lost == ()
    assert told.turns == 40
    assert told.kills == 1
    assert told.compactions.total()
    assert told.largest <= window


def test_no_model_is_needed_for_its_summaries(tmp_path: Path) -> None:
    told = play(Trial(format="gemini", window=8_192, turns=40, kills=0, summaries=()), tmp_path)
    assert told.fine, told
    assert {kind for kind in told.compactions if kind.startswith("summar")} == {"summarise without"}


def test_what_is_lost_is_told(tmp_path: Path) -> None:
    """The same conversation by a policy that lays nothing beside summaries that forget."""
    (tmp_path / "forgetful.toml").write_text(FORGETFUL)
    trial = Trial(
        format="anthropic", window=8_192, turns=40, kills=0, summaries=("forgetful",),
        policy=str(tmp_path / "forgetful.toml"),
    )  # fmt: skip
    told = play(trial, tmp_path)
    assert "prefix was lost" in told.lost
    assert not told.fine
