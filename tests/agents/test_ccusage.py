"""Tokens and costs agree with what ccusage makes of the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.counting import TRANSCRIPTS, ccusage, ccusage_codex, ours
from tests.agents.harness import ROOT, needs

HOME = TRANSCRIPTS / "claude"
PAGE = ROOT / "docs" / "agreement.md"
FILES = sorted(str(one.relative_to(HOME)) for one in HOME.rglob("*.jsonl"))
NEAR = 0.01
CODEX = TRANSCRIPTS / "codex"
ROLLOUTS = sorted(str(one.relative_to(CODEX)) for one in CODEX.rglob("*.jsonl"))
SILENT = "agent-sessions/codex_053_rate_limit.jsonl"
"""Tells of usage, but nobody says anything: no session."""

UNREAD = (
    *("dedup_agent", "dedup_main", "edge_cases", "memory_interactions", "memory_sidechain"),
    *("sidechain_agent", "sidechain_main", "agent-ag000001", "agent-ag000002", "agent-ag000003"),
    "11110000-0000-4000-8000-000000000001",
    *("representative_messages", "session_b", "sidechain", "todowrite_examples"),
)
"""Hand-made files of which ccusage leaves lines out: there is white space behind `"usage":`, which
it looks for without, or their times have more digits than it reads. Written plainer, it reads them.
"""
EXPLAINED = ("agent-sessions/small.jsonl",)
"""A fixture with an iteration of a kind that the API does not have: here it adds."""

needs_data = pytest.mark.skipif(not HOME.is_dir(), reason="recorded data is missing")


@needs_data
@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith("journal.jsonl")])
def test_tokens_and_costs_are_those_of_ccusage(name: str, tmp_path: Path) -> None:
    needs("ccusage")
    _, used = ours(HOME / name)
    theirs = ccusage(HOME / name, tmp_path / "as it is")
    if Path(name).stem in UNREAD:
        assert sum(theirs.tokens) < sum(used.tokens)
        theirs = ccusage(HOME / name, tmp_path / "plainer", rewritten=True)
    if name in EXPLAINED:
        assert theirs.tokens != used.tokens
        return
    assert theirs.tokens == used.tokens
    assert abs(theirs.cost - used.cost) <= NEAR * used.cost


@needs_data
@pytest.mark.parametrize("name", ROLLOUTS)
def test_tokens_of_rollouts_are_those_of_ccusage(name: str, tmp_path: Path) -> None:
    needs("ccusage")
    _, used = ours(CODEX / name)
    theirs = ccusage_codex(CODEX / name, tmp_path)
    if name == SILENT:
        assert sum(theirs.tokens) > sum(used.tokens) == 0
        return
    assert theirs.tokens == used.tokens
    if used.cost:
        assert abs(theirs.cost - used.cost) <= NEAR * used.cost


@needs_data
def test_the_table_in_the_docs_says_what_we_count() -> None:
    needs("ccusage")
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.count("|") == 7]
    rows = [row for row in rows if ".jsonl`" in row[1]]
    told = {row[1].strip().strip("`"): (row[2].strip(), row[3].strip()) for row in rows}
    assert len(told) == 50
    for name, (tokens, cost) in told.items():
        (path,) = (HOME / one for one in FILES if f"/{one}".endswith(f"/{name}"))
        _, used = ours(path)
        assert (f"{sum(used.tokens):,}", f"{used.cost:.4f}") == (tokens, cost), name
