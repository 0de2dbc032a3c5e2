"""Whoever was writing a summary and died holds nobody up for long."""

import pytest

from holdfast import assistant
from holdfast.engine.bridge import drive
from holdfast.engine.compaction import ladder
from holdfast.engine.compaction.lease import Lease
from holdfast.model.log import Summary
from tests.properties.ladders import engine, words


def test_a_full_window_does_without_a_summary_that_never_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ladder, "PATIENCE", 0.1)
    with engine(8_192) as hf:
        s = hf.session(model="claude-sonnet-4-6", policy="codex", summariser=lambda question: "")
        drive(Lease.begin(s._inner, "summary", 120))
        for number in range(4):
            s.user(words(number, 4, 0))
            s.append(assistant("Done."))
        s.user("And now?")
        made = s.window()
        told = [entry.body for entry in s.entries() if isinstance(entry.body, Summary)]
        assert made.over == 0
        assert [body.model for body in told] == [""]
