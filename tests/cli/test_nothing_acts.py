"""Whatever a transcript says of itself, no command lets it act on a terminal."""

from __future__ import annotations

import pytest

from tests.cli.running import run, values
from tests.importers.writing import Transcript

ACTING = "\u200b\u2060\ufeff\u00ad\x1b\x9b\u202e\u2066\x07\x08\x7f\x00\u200f\U000e0041"
EVIL = "\x1b[31mred\x1b]0;title\x07 \x9b31m \u202eRLO \u2066iso \x00nul \x08\x7f \u200f \U000e0041"
EVIL += " zero\u200bwidth\u2060\ufeff\u00ad"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with one session that has a hostile text wherever a transcript has any."""
    place = tmp_path_factory.mktemp("acting")
    told = Transcript()
    told.user(f"{EVIL} begin", cwd=f"/tmp/{EVIL}")
    call = {"type": "tool_use", "id": "t1", "name": EVIL, "input": {EVIL: EVIL, "file_path": EVIL}}
    told.reply("msg_1", {"type": "text", "text": EVIL}, call)
    for record in told.records[1:]:
        record["message"]["model"] = f"claude-{EVIL}"
    told.user([{"type": "tool_result", "tool_use_id": "t1", "content": EVIL, "is_error": True}])
    meta = {"trigger": "auto", "compactedToolIds": ["t1"]}
    told.add("system", subtype="microcompact_boundary", microcompactMetadata=meta)
    told.add("system", subtype="compact_boundary", parent=None,
             compactMetadata={"trigger": "auto", "preTokens": 5})  # fmt: skip
    told.user(f"Summary of {EVIL}", isCompactSummary=True)
    told.bare(type="custom-title", customTitle=EVIL, sessionId=told.session)
    told.add(f"kind-{EVIL}", field=EVIL)
    path, db = told.write(place / "home"), str(place / "store.db")
    done = run("import", str(path), "--store", db)
    assert done.exit_code == 0, done.output
    assert not set(done.output) & set(ACTING)
    return db


@pytest.mark.parametrize(
    "words",
    [
        ("show", "last"),
        ("show", "last", "--all", "--full"),
        ("sessions",),
        ("search", "red"),
        ("stats", "--by", "model"),
        ("stats", "--by", "project"),
        ("stats", "--by", "agent"),
        ("ledger", "last"),
        ("context", "last"),
        ("explain", "last"),
        ("compact", "last", "--dry-run"),
        ("pins", "last"),
        ("cost",),
        ("cost", "--by", "model"),
        ("doctor",),
        ("export", "last", "--to", "markdown"),
        ("export", "last", "--to", "html"),
        ("handoff", "last", "--to", "markdown"),
        ("show", "last", "--at", "1"),
        ("show", "last", "--full", "--json"),
        ("statusline", "last"),
        ("stats", "--by", "day"),
        ("transcripts", "list"),
        ("recall", "last", "1"),
        ("no-such-command", EVIL),
        ("show", EVIL),
        ("search", EVIL),
        ("policy", "show", EVIL),
        ("models", f"claude-{EVIL}"),
    ],
)
def test_no_command_lets_a_transcript_act(store: str, words: tuple[str, ...]) -> None:
    done = run(*words, "--store", store)
    assert done.output.strip()
    assert not set(done.output) & set(ACTING)
    assert done.exit_code == 0 or "error: " in done.output


def test_it_is_in_the_store_all_the_same(store: str) -> None:
    (session,) = values("sessions", "--store", store)
    assert session["model"] == f"claude-{EVIL}"
