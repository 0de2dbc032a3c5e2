"""Days as people say them, and projects of another system by name."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from holdfast.cli.days import times
from holdfast.cli.ui.format import short_project
from holdfast.errors import InvalidRequest
from holdfast.testing.factories import session


@pytest.mark.parametrize(("word", "days"), [("today", 0), ("yesterday", 1), ("7d", 7), ("2w", 14)])
def test_a_day_may_be_so_long_ago(word: str, days: int) -> None:
    now = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: DTZ005
    begun = (now - timedelta(days=days)).astimezone()
    assert times(word, "")["since"] == int(begun.timestamp() * 1_000)


@pytest.mark.parametrize("word", ["7", "d", "tomorrow", "99999d"])
def test_what_is_no_day_is_told(word: str) -> None:
    with pytest.raises(InvalidRequest, match="yesterday, 7d or 2w"):
        times("", word)


@pytest.mark.parametrize(
    ("path", "name"),
    [("D:\\oh-my-posh", "oh-my-posh"), ("\\\\host\\share\\roof\\", "roof"),
     ("/home/me/a\\b", "a\\b"), ("/home/me/roof", "roof")],
)  # fmt: skip
def test_a_project_is_called_by_the_last_name_of_its_path(path: str, name: str) -> None:
    assert short_project(session(project=path)) == name


def test_days_at_the_ends_of_the_calendar_are_days() -> None:
    found = times("0001-01-01", "9999-12-31")
    assert found["since"] <= 0
    assert found["until"] > times("", "9999-12-30")["until"] - 1
