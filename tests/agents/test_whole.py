"""What the real programs write down is imported whole: nothing said, called or used is lost."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

import holdfast
from holdfast.engine.client import Holdfast
from holdfast.engine.importing.discovery import usual
from holdfast.model.log import Summary
from holdfast.model.message import Record
from holdfast.model.reply import Usage
from holdfast.testing.strict import Asked
from holdfast.testing.strict.script import used
from tests.agents import aider, claude_code, codex, gemini_cli, opencode
from tests.agents.harness import Place, Played, needs
from tests.agents.whole import Account, imported, sent, unknown
from tests.importers.looking import bring, log, parts


class Program(Struct, frozen=True, kw_only=True):
    """A program, what it is asked, and what of it never reaches its files."""

    name: str
    play: Callable[[Place], Played]
    asked: tuple[str, ...] = ("What do the notes say?", "And now?")
    beside: Callable[[Asked], bool] = lambda asked: False
    """Requests that are no part of the conversation."""
    unwritten: tuple[str, ...] = ()
    """How texts begin that the program sends and does not write down."""
    unsaid: str = ""
    """A reply that nobody can read in its file."""
    unthought: bool = False
    """Whether thoughts are not shown to it."""
    summaries: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    """Records with no other place; each is named in docs/archive.md or says nothing of its own."""


def kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


ROLLOUT = kinds(
    """
    session_meta turn_context world_state token_usage_record response_item/additional_tools
    response_item/configuration_update event_msg/task_started event_msg/task_complete
    event_msg/thread_settings_applied event_msg/item_completed event_msg/token_count
    """
)
PROGRAMS = {
    "Claude Code": Program(
        name="claude",
        play=claude_code.play,
        asked=("What do the notes say?", "And now?", "And after that?", claude_code.ERRAND),
        beside=lambda asked: "CRITICAL: Respond with TEXT ONLY" in str(asked.body["messages"][-1]),
        unwritten=("Tool loaded.",),
        unthought=True,
        summaries=(claude_code.SUMMARY,),
        kept=kinds(
            """
            queue-operation mode last-prompt atis-latch tools-used cost-state api-request
            api-request-shape api-request-blob system/local_command attachment/session_context
            attachment/prompt_snapshot attachment/deferred_tools_record
            """
        ),
    ),
    "Codex": Program(name="codex", play=codex.play, kept=ROLLOUT),
    "Codex, compacted": Program(
        name="codex",
        play=codex.compacting,
        unwritten=("You are performing a CONTEXT CHECKPOINT COMPACTION.",),
        summaries=(codex.SUMMARY,),
        kept=ROLLOUT,
    ),
    "Codex, compacted by OpenAI": Program(
        name="codex",
        play=lambda place: codex.compacting(place, "OpenAI"),
        unsaid=codex.SUMMARY,
        summaries=("What was said, in the words it was said in:",),
        kept=ROLLOUT,
    ),
    "Gemini CLI": Program(
        name="gemini",
        play=gemini_cli.play,
        asked=("What do the notes say?",),
        beside=lambda asked: "tools" not in asked.body,
        kept=kinds("session $set gemini user"),
    ),
    "OpenCode": Program(
        name="opencode",
        play=opencode.play,
        asked=('"What do the notes say?"', '"And now?"', opencode.ERRAND),
        beside=lambda asked: not asked.body.get("tools"),
        kept=kinds("session"),
    ),
    "Aider": Program(
        name="aider",
        play=aider.play,
        asked=aider.TURNS,
        unwritten=("Act as an expert", "# *SEARCH/REPLACE block*", "I have *added these files"),
        kept=kinds("banner"),
    ),
}


@pytest.mark.parametrize("which", PROGRAMS)
def test_what_a_program_wrote_is_imported_whole(which: str, tmp_path: Path) -> None:
    program = PROGRAMS[which]
    needs(program.name)
    place = Place.at(tmp_path)
    played = program.play(place)
    assert [(asked.rule, asked.refusal) for asked in played.server.refused] == []
    with holdfast.open("memory:") as hf:
        reports = bring(hf, *(list(usual(place.home)) or [place.work]))
        problems = [one for report in reports for one in report.problems]
        assert [one for one in problems if one.severity != "notice"] == []
        assert {kind for report in reports for kind in report.kept} <= program.kept
        agree(program, sent(played, program.beside), imported(hf))
        assert set(program.asked) <= imported(hf).shown
        assert all(one.directory == str(place.work) for one in hf.every_session())
        compacted(program, hf)
        if program.name == "claude":
            totalled(hf, played)
        once(hf, place, tmp_path)


def agree(program: Program, wire: Account, ours: Account) -> None:
    """Whether both have the same conversation."""
    assert ours.said == wire.said - Counter([program.unsaid])
    assert ours.thought == ({} if program.unthought else wire.thought)
    assert ours.called == wire.called
    assert ours.answered == wire.answered
    assert ours.used == (rounded(wire.used) if program.name == "aider" else wire.used)
    shown = {text for text in wire.shown if not text.startswith(program.unwritten or ("\0",))}
    assert unknown(shown, ours.shown | set(ours.said)) == []


def rounded(used: Counter[Usage]) -> Counter[Usage]:
    """Usage as Aider tells it: thousands with one digit behind the point."""
    return Counter(
        replace(usage, input=round(usage.input / 100) * 100) for usage in used.elements()
    )


def totalled(hf: Holdfast, played: Played) -> None:
    """Whether Claude Code's own total is what we have, and the call that made the summary."""
    states = [
        json.loads(part.data)
        for one in hf.every_session()
        for part in parts(hf.session(one.id))
        if isinstance(part, Record) and part.type == "cost-state"
    ]
    total = sum(one["inputTokens"] for one in states[-1]["modelUsage"].values())
    summary = next(asked for asked in played.made if PROGRAMS["Claude Code"].beside(asked))
    assert summary.told
    used_for_it = used(summary.told, summary).input
    assert total == used_for_it + sum(usage.input for usage in imported(hf).used.elements())


def compacted(program: Program, hf: Holdfast) -> None:
    """Whether each compaction is there, with what stands for the past and how long that was."""
    bodies = [entry.body for one in hf.every_session() for entry in hf.session(one.id).entries()]
    found = [body for body in bodies if isinstance(body, Summary)]
    assert len(found) == len(program.summaries)
    for body, text in zip(found, program.summaries, strict=True):
        assert text in body.text
        assert body.tokens_before > body.tokens_after > 0


def once(hf: Holdfast, place: Place, folder: Path) -> None:
    """Whether importing again, and importing a copy, changes nothing."""
    before = {one.id: log(hf.session(one.id)) for one in hf.every_session()}
    again = bring(hf, *(list(usual(place.home)) or [place.work]))
    assert all(report.unchanged for report in again)
    copy = shutil.copytree(place.home, folder / "copy", symlinks=True)
    assert [report.entries for report in bring(hf, copy) if report.entries] == []
    assert {one.id: log(hf.session(one.id)) for one in hf.every_session()} == before
