"""Costs by week, month and block of five hours, by program; sessions by cost, size and time."""

import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.usage.periods import BLOCK, HOUR, blocks, named
from holdfast.model.reply import Call, Usage
from tests.cli.running import run, terminal, values

NOON = 1_773_921_600_000
"""2026-03-19, a Thursday, 12:00 UTC."""


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def called(session: str, started: int, cost: int | None, n: int) -> Call:
    used = Usage(input=600_000, output=300_000)
    return Call(id=f"call{n}", session=session, started=started, ended=started + 1, usage=used,
                cost=cost, model="claude-sonnet-4-6")  # fmt: skip


def fill(*times: int, cost: int | None = 2_000_000_000, entries: int = 1) -> str:
    """A session with calls at these times."""
    with holdfast.open() as hf:
        session = hf.session(title=f"{len(times)} calls", directory="/srv/shop")
        for n in range(entries):
            session.user(f"question {n}")
        for n, at in enumerate(times):
            drive(hf.engine.store.calls.record(called(session.id, at, cost, n)))
        return session.id


def test_a_block_begins_at_the_full_hour_and_lasts_five() -> None:
    first, inside, after = NOON + HOUR // 2, NOON + BLOCK - 1, NOON + BLOCK
    assert blocks([after, first, inside]) == {first: NOON, inside: NOON, after: after}
    assert named("block", [inside, first])[inside] == "2026-03-19 12:00"


def test_weeks_begin_on_monday_and_months_on_the_first() -> None:
    sunday = NOON + 3 * 24 * HOUR
    assert named("week", [NOON, sunday, sunday + 24 * HOUR]) == {
        NOON: "2026-03-16", sunday: "2026-03-16", sunday + 24 * HOUR: "2026-03-23",
    }  # fmt: skip
    assert named("month", [NOON]) == {NOON: "2026-03"}


def test_costs_are_summed_by_week_month_and_block() -> None:
    fill(NOON, NOON + HOUR, NOON + 6 * HOUR, NOON + 7 * 24 * HOUR)
    assert [(one["week"], one["calls"]) for one in values("cost", "--by", "week")] == [
        ("2026-03-16", 3), ("2026-03-23", 1),
    ]  # fmt: skip
    (month,) = values("cost", "--by", "month")
    assert (month["month"], month["calls"], month["cost_usd"]) == ("2026-03", 4, 8.0)
    first, *others = values("cost", "--by", "block")
    assert (first["block"], first["calls"], first["running"]) == ("2026-03-19 12:00", 2, False)
    assert [one["calls"] for one in others] == [1, 1]
    assert first["ends"] == "2026-03-19T17:00:00Z"
    assert first["usd_per_hour"] == pytest.approx(4.0 / 1.25)
    assert first["tokens_per_minute"] == 1_800_000 / 75
    shown = run("cost", "--by", "block").stdout
    assert "USD/h" in shown
    assert "3.20" in shown
    assert "The block that runs" not in shown


def test_the_block_that_runs_is_told_with_what_it_comes_to() -> None:
    fill(time.time_ns() // 1_000_000 - 60_000)
    (block,) = values("cost", "--by", "block")
    assert block["running"]
    assert block["projected_usd"] > block["cost_usd"] == 2.0
    assert "The block that runs ends at" in run("cost", "--by", "block").stdout


def test_costs_of_one_program() -> None:
    fill(NOON)
    assert len(values("cost", "--agent", "holdfast")) == 1
    assert "there is no agent 'codex'" in run("cost", "--agent", "codex").stderr
    with holdfast.open() as hf:
        found = hf.costs("agent", agent="holdfast")
        assert [(one.name, one.calls) for one in found] == [("holdfast", 1)]
        assert hf.costs("agent", agent="codex") == []


def test_sessions_by_cost_by_size_and_since_a_day() -> None:
    dear, long = fill(NOON, NOON + HOUR), fill(NOON, entries=5)
    unknown = fill(NOON, cost=None)
    ids = [one["id"] for one in values("sessions", "--sort", "cost")]
    assert ids == [dear, long, unknown]
    assert [one["cost_usd"] for one in values("sessions", "--sort", "cost")] == [4.0, 2.0, None]
    largest, *_ = values("sessions", "--sort", "size")
    assert largest["id"] == long
    assert [one["id"] for one in values("sessions")] == [unknown, long, dear]
    behind = values("sessions", "--sort", "cost", "--after", dear, "--limit", "1")
    assert [one["id"] for one in behind] == [long]
    assert len(values("sessions", "--since", "today")) == 3
    assert values("sessions", "--since", "2999-01-01") == []
    assert "No session changed since 2999-01-01" in run("sessions", "--since", "2999-01-01").stdout
    last = [line.split("\t")[-1] for line in run("sessions", "--sort", "cost").stdout.splitlines()]
    assert last == ["4.00", "2.00", "?"]
    assert "USD" in terminal("sessions", columns=120)
    shown = terminal("sessions", "--sort", "cost", "--since", "today", "--limit", "1")
    assert "4.00" in shown


def test_a_price_that_is_only_partly_known_is_marked(tmp_path: Path) -> None:
    id = fill(NOON)
    with holdfast.open() as hf:
        more = replace(called(id, NOON, None, 9), model="nobody-knows-it")
        drive(hf.engine.store.calls.record(more))
    assert run("sessions").stdout.rstrip().split("\t")[-1] == "2.00*"


@pytest.mark.seed("001", 103)
def test_calls_are_summed_by_the_minute_and_by_the_hour() -> None:
    fill(NOON, NOON + 20_000, NOON + 61_000, NOON + HOUR)
    minutes = [(one["minute"], one["calls"]) for one in values("cost", "--by", "minute")]
    assert minutes == [("2026-03-19 12:00", 2), ("2026-03-19 12:01", 1), ("2026-03-19 13:00", 1)]
    hours = [(one["hour"], one["calls"]) for one in values("cost", "--by", "hour")]
    assert hours == [("2026-03-19 12:00", 3), ("2026-03-19 13:00", 1)]
