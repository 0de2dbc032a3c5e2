"""On every real transcript, files, commands and statuses are those of the raw records."""

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.facts.exit_answers import RULE as ANSWER
from holdfast.model.ledger import Command, Ledger
from holdfast.model.log import Entry
from tests.conftest import SHARED_DATA
from tests.ledger.reading import Facts, Ran, claude_facts, codex_facts
from tests.ledger.transcripts import claude, codex

Reader = tuple[Callable[[Path], list[Entry]], Callable[[Path], Facts]]
READERS: dict[str, Reader] = {"claude": (claude, claude_facts), "codex": (codex, codex_facts)}


def sessions() -> list[tuple[str, Path]]:
    home = SHARED_DATA / "transcripts"
    return [
        (kind, file)
        for kind in READERS
        for file in sorted((home / kind).rglob("*.jsonl"))
        if file.name not in ("history.jsonl", "journal.jsonl")
    ]


SESSIONS = sessions()


def failed(command: Command) -> bool | None:
    if command.inferred == ANSWER:
        return command.exit == 1  # the raw record cannot tell a failure from a command that says no
    return {"failed": True, "succeeded": False}.get(command.outcome)


def changes(known: Ledger) -> dict[str, str]:
    return {f.path: f.change for f in known.files.values() if f.change not in ("none", "unknown")}


def test_there_are_transcripts_to_be_read(shared_data: Path) -> None:
    assert len(SESSIONS) > 80


def agrees(kind: str, file: Path) -> bool:
    read, facts_of = READERS[kind]
    known, facts = ledger(read(file)), facts_of(file)
    return (ran(known), shown(known), changes(known)) == (facts.commands, facts.read, facts.changes)


def ran(known: Ledger) -> list[Ran]:
    return [Ran(one.line, one.exit, failed(one)) for one in known.commands]


def shown(known: Ledger) -> set[str]:
    return {one.path for one in known.files.values() if one.read}


@pytest.mark.parametrize(("kind", "file"), SESSIONS, ids=[f.stem[-12:] for _, f in SESSIONS])
def test_files_and_commands_are_exactly_those_of_the_transcript(kind: str, file: Path) -> None:
    read, facts_of = READERS[kind]
    known, facts = ledger(read(file)), facts_of(file)
    assert ran(known) == facts.commands
    assert shown(known) == facts.read
    assert changes(known) == facts.changes
