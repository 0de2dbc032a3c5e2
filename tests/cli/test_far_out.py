"""Times that no calendar has, and numbers that count nothing: a clear answer, never a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import run, values
from tests.importers.writing import Transcript, text

HUGE = "9" * 20
FORMS = ("portable", "markdown", "html", "claude-code", "codex")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A session of the last second of the year 9999, and one of long after it."""
    place = tmp_path_factory.mktemp("far")
    told, db = Transcript(), str(place / "store.db")
    told.user("Begin.")
    told.reply("msg_1", text("Yes."))
    for record in told.records:
        record["timestamp"] = "9999-12-31T23:59:59.999Z"
    assert run("import", str(told.write(place / "p")), "--store", db).exit_code == 0
    far = json.loads(run("export", "last", "--store", db).stdout.splitlines()[0])
    far["session"] |= {"id": "01FAR", "created": 2**53 - 1, "updated": 2**53 - 1}
    for number, message in enumerate(far["messages"]):
        message |= {"id": f"far{number}", "created": 2**53 - 1, "completed": 2**53 - 1}
    for number, call in enumerate(far["calls"]):
        call |= {"id": f"call{number}", "request": "", "started": 2**53 - 1, "ended": 2**53 - 1}
    (place / "far.ndjson").write_text(json.dumps(far) + "\n")
    assert run("import", str(place / "far.ndjson"), "--store", db).exit_code == 0
    assert len(values("sessions", "--store", db)) == 2
    return db


def test_a_time_far_out_is_exported(store: str) -> None:
    for one in values("sessions", "--store", store):
        for form in FORMS:
            done = run("export", one["id"], "--to", form, "--store", store)
            assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("to", ["codex", "claude-code", "chat", "markdown"])
def test_a_time_far_out_is_handed_over(store: str, to: str, tmp_path: Path) -> None:
    homes = {"CODEX_HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path)}
    for one in values("sessions", "--store", store):
        done = run("handoff", one["id"], "--to", to, "--store", store, **homes)
        assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("sessions", "--limit", HUGE),
        ("search", "begin", "--open", HUGE),
        ("search", "begin", "--since", "0001-01-01", "--until", "9999-12-31"),
        ("cost", "--since", "0001-01-01", "--until", "9999-12-31"),
        ("cost", "--by", "day"),
        ("stats", "--since", "0001-01-01"),
        ("show", "last", "--last", HUGE),
        ("show", "last", "--at", HUGE),
        ("show", "last", "--at", "1", "--around", HUGE),
        ("explain", "last", "--entry", HUGE),
        ("pin", "last", HUGE),
        ("undo", "last", HUGE),
        ("redo", "last", HUGE),
        ("recall", "last", f"{HUGE}.1"),
        ("recall", "last", "1", "--offset", HUGE),
        ("compact", "last", "--dry-run"),
    ],
)
def test_it_is_answered_or_refused_in_words(store: str, words: tuple[str, ...]) -> None:
    done = run(*words, "--store", store)
    assert "should not have happened" not in done.output
    assert done.exit_code in (0, 1, 2)
    assert done.exception is None or isinstance(done.exception, SystemExit)
