"""The labels of public sessions, and how they are found again in a clone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.ledger import quality
from tests.ledger.quality import (
    agreement,
    digest,
    first_reading,
    judged,
    messages,
    score,
    sessions,
)

EXPORTED = """<!-- Generated -->

_**User (2026-01-02 03:04Z)**_

Add a page.

---

_**Agent (model)**_

Done.

---

_**User**_

Never touch the database.
It still fails.

---
"""
HISTORY = (
    "# aider chat started at 2026-01-02 03:04:05\r\n\r\n#### Not this run.  \r\n\r\n"
    "# aider chat started at 2026-01-02 04:00:00\n\n#### Use tabs  \n#### here.  \n\nDone.\n"
)


def test_there_are_enough_of_each_kind_and_no_words_of_anybody() -> None:
    labels = [label for session in sessions() for label in session["labels"]]
    for at in (1, 2, 3, 4):
        assert sum(label[at] is True for label in labels if len(label) > at) >= 150
    assert all(len(name) == 12 and int(name, 16) >= 0 for name, *_ in labels)
    assert {len(label) for label in labels} == {3, 5}
    assert len({session["repository"] for session in sessions()}) >= 20


def test_what_the_rules_were_changed_on_is_not_what_they_are_judged_by() -> None:
    held, seen = (
        {name for session in sessions(file) for name, *_ in session["labels"]}
        for file in (quality.HELDOUT, quality.DEVELOPMENT)
    )
    assert held
    assert seen
    assert not held & seen


def test_messages_are_what_users_said() -> None:
    path = ".specstory/history/a.md"
    said = ["Add a page.", "Never touch the database.\nIt still fails."]
    assert messages(EXPORTED, path, "") == said
    assert messages(HISTORY, ".aider.chat.history.md", "2026-01-02 04:00:00") == ["Use tabs\nhere."]
    assert messages(HISTORY, ".aider.chat.history.md", "2020") == []


def test_labels_are_scored_against_the_words_of_a_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "me+mine"
    clone.mkdir()
    (clone / "a.md").write_text(EXPORTED)
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"]):
        name = ["-c", "user.name=me", "-c", "user.email=me@example.com"]
        subprocess.run(["git", *name, *command], cwd=clone, check=True)
    said = messages(EXPORTED, "a.md", "")
    labels = [
        [digest(said[0]), False, None],
        [digest(said[1]), None, False, True, True],
        ["0" * 12, True, True],
    ]
    told = {"repository": "me/mine", "commit": "HEAD", "path": "a.md", "labels": labels}
    (tmp_path / "labels.jsonl").write_text(json.dumps(told) + "\n")
    monkeypatch.setattr(quality, "HELDOUT", tmp_path / "labels.jsonl")
    found = list(judged(tmp_path))
    assert [(one.text, one.first) for one in found] == [(said[0], True), (said[1], False)]
    assert tuple(score(found, "constraint")) == (1, 0, 0)
    assert tuple(score(found, "correction")) == (1, 0, 0)
    assert tuple(score(found, "correction", wide=True)) == (0, 0, 0)
    assert tuple(score(first_reading(found), "correction")) == (0, 1, 0)
    assert agreement(found, "constraint") == (0, 1.0, 1.0)
    assert agreement(found, "correction")[:2] == (1, 0.0)
