"""What was handed over is known when it comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.doors import BlockingSession, Holdfast
from holdfast.model.message import assistant
from tests.importers.looking import bring, only, words

MORE = {
    "claude-code": {"type": "user", "message": {"role": "user", "content": "And the wall?"}},
    "codex": {
        "timestamp": "2026-11-15T12:00:00Z", "type": "response_item",
        "payload": {"type": "message", "role": "user",
                    "content": [{"type": "input_text", "text": "And the wall?"}]},
    },
}  # fmt: skip


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "store.db") as opened:
        yield opened


def handed(hf: Holdfast, to: str, home: Path) -> tuple[BlockingSession, Path]:
    session = hf.session(model="gpt-5.1", title="The roof")
    session.user("Mend the roof.")
    session.append(assistant("It is mended."))
    hf.hand_over(session.id, to, home=home)
    (file,) = home.rglob("*.jsonl")
    return session, file


@pytest.mark.parametrize("to", MORE)
def test_a_copy_that_did_not_go_on_is_not_imported(to: str, hf: Holdfast, tmp_path: Path) -> None:
    session, file = handed(hf, to, tmp_path / "home")
    (report,) = bring(hf, file)
    assert (report.copy_of, report.entries, report.troubles) == (session.id, 0, 0)
    assert only(hf).id == session.id


@pytest.mark.parametrize("to", MORE)
def test_one_that_went_on_is_and_is_called_as_its_session(
    to: str, hf: Holdfast, tmp_path: Path
) -> None:
    session, file = handed(hf, to, tmp_path / "home")
    with file.open("a") as grown:
        grown.write(json.dumps(MORE[to]) + "\n")
    (report,) = bring(hf, file)
    assert (report.copy_of, report.troubles) == ("", 0)
    (found,) = [one for one in hf.every_session() if one.id != session.id]
    assert found.title == "The roof"
    assert words(hf.session(found.id))[-1] == "And the wall?"


@pytest.mark.parametrize("to", MORE)
def test_where_its_session_is_not_here_it_is_imported(
    to: str, hf: Holdfast, tmp_path: Path
) -> None:
    _, file = handed(hf, to, tmp_path / "home")
    with holdfast.open("memory:") as other:
        (report,) = bring(other, file)
        assert (report.copy_of, report.troubles) == ("", 0)
        assert only(other).info.title == "The roof"
