"""Which stretch of time a question names, on a Thursday."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.search.dates import MOST, asked_times
from holdfast.core.search.ranking import preferred

NOW = int(datetime(2026, 11, 19, 15, tzinfo=UTC).timestamp() * 1000)
NAMED = {
    "what was yesterday": ("2026-11-18", "2026-11-19"),
    "which tests failed the day before yesterday?": ("2026-11-17", "2026-11-18"),
    "what broke this morning": ("2026-11-19", "2026-11-20"),
    "what did we decide last week": ("2026-11-09", "2026-11-16"),
    "This Week": ("2026-11-16", "2026-11-23"),
    "last month": ("2026-10-01", "2026-11-01"),
    "last quarter": ("2026-07-01", "2026-10-01"),
    "last year": ("2025-01-01", "2026-01-01"),
    "two days ago": ("2026-11-17", "2026-11-18"),
    "a couple of weeks ago": ("2026-11-02", "2026-11-09"),
    "3 months ago": ("2026-08-01", "2026-09-01"),
    "what we said on Monday": ("2026-11-16", "2026-11-17"),
    "Thursday": ("2026-11-12", "2026-11-13"),
    "last Friday": ("2026-11-13", "2026-11-14"),
    "in March": ("2026-03-01", "2026-04-01"),
    "in December": ("2025-12-01", "2026-01-01"),
    "in March 2025": ("2025-03-01", "2025-04-01"),
    "March 4th": ("2026-03-04", "2026-03-05"),
    "on December 24": ("2025-12-24", "2025-12-25"),
    "4 March 2025": ("2025-03-04", "2025-03-05"),
    "on 2026-03-04?": ("2026-03-04", "2026-03-05"),
    "2026-02": ("2026-02-01", "2026-03-01"),
    "in 2024": ("2024-01-01", "2025-01-01"),
    "since last week": ("2026-11-09", "2026-11-20"),
    "after March 3": ("2026-03-03", "2026-11-20"),
}


def asked(question: str) -> list[tuple[str, str]]:
    spans = asked_times(question, lambda: NOW, UTC)
    return [(f"{_day(first)}", f"{_day(behind)}") for first, behind in spans]


def _day(ms: int) -> date:
    return datetime.fromtimestamp(ms / 1000, UTC).date()


@pytest.mark.parametrize(("question", "days"), NAMED.items(), ids=list(NAMED))
def test_words_for_time_name_what_lies_behind(question: str, days: tuple[str, str]) -> None:
    assert asked(question) == [days]


@pytest.mark.parametrize(
    "question",
    ["we deploy every Friday", "on Fridays", "next week", "tomorrow", "in two weeks",
     "before March", "by Friday", "until yesterday", "30 February 2026", "2026-13-01",
     "in March 2027", "may we march", "version 2026-03-04b", "12026-03-04", "walrus", ""],
)  # fmt: skip
def test_what_names_no_day_that_was_prefers_nothing(question: str) -> None:
    assert asked(question) == []


def test_days_begin_at_midnight_where_the_question_is_asked() -> None:
    late = int(datetime(2026, 11, 19, 22, tzinfo=UTC).timestamp() * 1000)
    east = timezone(timedelta(hours=9))  # there it is the twentieth
    ((first, behind),) = asked_times("yesterday", lambda: late, east)
    assert datetime.fromtimestamp(first / 1000, east) == datetime(2026, 11, 19, tzinfo=east)
    assert behind - first == 86_400_000


def test_several_stretches_are_named_and_no_more_than_a_few() -> None:
    assert len(asked("in May or in June")) == 2
    assert len(asked(" ".join(f"2026-01-{day:02}" for day in range(1, 29)))) == MOST


@given(st.text() | st.from_regex(r"(\d{1,4}[- ]|in |last |march |week |ago |years? ){1,8}"),
       st.integers(-(2**60), 2**60))  # fmt: skip
def test_any_question_at_any_time_names_stretches_or_none(question: str, now: int) -> None:
    assert all(0 <= first <= behind for first, behind in asked_times(question, lambda: now))


def test_a_preference_is_no_filter() -> None:
    found = preferred({1: 1.0, 2: 0.9, 3: 2.0}, {1: 50, 2: 100, 3: 199}, ((100, 200),))
    assert sorted(found, key=lambda at: -found[at]) == [3, 2, 1]
    assert preferred({1: 2.0, 2: 1.0}, {1: 50, 2: 100}, ((100, 200),)) == {1: 2.0, 2: 1.5}
