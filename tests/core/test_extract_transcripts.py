"""On real transcripts: nothing that is written without a model contradicts or invents anything."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from bench.replay import Transcript, cuts, transcripts
from holdfast.core.extract import HEADING, INDEX, extract
from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.checks.objections import objections
from holdfast.core.ledger.render import render
from holdfast.core.log.transcript_text import told
from holdfast.core.tokens.estimate import estimate
from holdfast.model.log import Entry
from tests.conftest import SHARED_DATA
from tests.core.quoting import unfaithful

BUDGETS = (500, 2_000, 8_000)


@cache
def sessions() -> tuple[Transcript, ...]:
    return tuple(transcripts()) if SHARED_DATA.is_dir() else ()


def stretches(session: Transcript) -> list[Sequence[Entry]]:
    places = cuts(session.entries)
    return [session.entries[:cut] for cut in (places[len(places) // 2], len(session.entries))]


def test_there_are_transcripts_to_be_read(shared_data: Path) -> None:
    assert len(sessions()) > 15


@pytest.mark.parametrize("session", sessions(), ids=lambda one: one.name[-12:])
def test_nothing_speaks_against_it(session: Transcript) -> None:
    for covered in stretches(session):
        known, said = ledger(covered), "\n".join(map(told, covered))
        for budget in BUDGETS:
            text = extract(covered, (), budget, ledger=known)
            assert objections(known, text, said) == []
            assert unfaithful(text, covered) == []
            assert estimate(text) <= budget


@pytest.mark.parametrize("session", sessions(), ids=lambda one: one.name[-12:])
def test_beside_the_ledger_no_open_request_is_dropped(session: Transcript) -> None:
    (covered, _), budget = stretches(session), 1_000
    known = ledger(covered)
    beside = render(known, budget // 4)
    text = extract(covered, (), budget, ledger=known, beside=beside)
    found = objections(known, f"{text}\n{beside}", "\n".join(map(told, covered)))
    assert [one for one in found if one.rule == "dropped-request"] == []


@pytest.mark.parametrize("session", sessions(), ids=lambda one: one.name[-12:])
def test_compacted_again_and_again_it_stays_true_and_within_its_budget(session: Transcript) -> None:
    budget, text, at = 1_500, "", 0
    for cut in [*cuts(session.entries, 4), len(session.entries)]:
        known = ledger(session.entries[:cut])
        text = extract(session.entries[at:cut], (text,) if text else (), budget, ledger=known)
        at = cut
        assert unfaithful(text, session.entries[:cut]) == []
        assert estimate(text) <= budget
        lines = text.splitlines()
        assert len(set(lines)) == len(lines)
        assert lines.count(HEADING) == 1
        assert lines.count(INDEX) <= 1
    known = ledger(session.entries)
    assert objections(known, text, "\n".join(map(told, session.entries))) == []
