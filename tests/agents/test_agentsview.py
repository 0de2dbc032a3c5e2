"""Replies, calls and tokens agree with what agentsview finds in the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.counting import TRANSCRIPTS, Counted, agentsview, laid_out, ours
from tests.agents.harness import ROOT, needs

PAGE = ROOT / "docs" / "agreement.md"
OPENPRINTKIT = "rollout-2025-11-01T11-34-37-97b66f6c-a160-40e0-bd0f-1fdcbbb9498b.jsonl"

DIFFERENT = {
    "aider/ai-text-detector/aider.chat.history.md": "replies",
    "aider/aider-swe-bench/astropy__astropy-14182.md": "replies tokens",
    "aider/aider-swe-bench/sphinx-doc__sphinx-7686.md": "replies tokens",
    "aider/rpgxp/aider.chat.history.md": "replies",
    "claude/agent-sessions/small.jsonl": "replies tokens",
    "claude/claude-code-log-edge/dag_fork.jsonl": "replies tokens",
    "claude/claude-code-log-edge/dag_within_fork.jsonl": "replies tokens",
    "claude/claude-code-log-edge/memory_sidechain.jsonl": "replies calls tokens",
    "codex/agent-sessions/schema_drift.jsonl": "replies calls",
    "codex/agent-sessions/small.jsonl": "replies calls",
    "codex/hk/6b-6d9bd86be1-0.jsonl": "replies",
    "codex/mise/ce-f8e0d67edb-0.jsonl": "replies",
    f"codex/openprintkit/{OPENPRINTKIT}": "replies tokens",
    "codex/session-bridge/27-787ded68f8-0.jsonl": "replies",
    "codex/vibecodingtracker/codex.jsonl": "replies tokens",
    "gemini/agent-sessions/jsonl_v040.jsonl": "tokens",
    "gemini/agent-sessions/large.json": "replies",
    "gemini/agent-sessions/schema_drift.json": "replies",
    "gemini/cli/ab-2b9748b105-0.json": "tokens",
    "gemini/session-bridge/23-607762cc12-0.json": "tokens",
    "gemini/session-bridge/c6-6a5f5ed92d-0.json": "tokens",
    "gemini/vibecodingtracker/gemini.jsonl": "tokens",
    "other-copilot/agent-sessions/small.jsonl": "calls tokens",
    "other-copilot/agent-sessions/subdir_v1/aaaabbbb-1111-2222-3333-ccccddddeeee/events.jsonl": (
        "tokens"
    ),
    "other-pi/agent-sessions/small.jsonl": "tokens",
    "other-pi/pi-mono/large-session.jsonl": "replies",
}
"""What differs; docs/agreement.md says why. Everything else is the same to the token."""

needs_data = pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="recorded data is missing")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counted]:
    needs("agentsview")
    return agentsview(tmp_path_factory.mktemp("agentsview"))


@needs_data
def test_agentsview_finds_what_we_find_but_for_what_is_named(theirs: dict[str, Counted]) -> None:
    nothing = Counted(0, 0, (0, 0, 0, 0))
    different: dict[str, str] = {}
    for name in laid_out():
        found, _ = ours(TRANSCRIPTS / name)
        there = theirs.get(name, nothing)
        fields = [one for one in Counted._fields if getattr(found, one) != getattr(there, one)]
        if fields:
            different[name] = " ".join(fields)
    assert different == DIFFERENT


def test_the_docs_name_every_file_that_differs() -> None:
    page = PAGE.read_text()
    assert [name for name in DIFFERENT if Path(name).name not in page] == []
