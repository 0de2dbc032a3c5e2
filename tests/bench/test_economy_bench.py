"""The benchmark of bills and shares charges as a provider would, and counts what it says."""

from typing import Any

from bench import economy_report as report
from bench.billing import Cache, Tokens
from bench.economy import OURS, Result, Run, share
from bench.used import Shown, uses
from holdfast.model.log import Entry
from holdfast.model.message import Message, ToolCall, ToolResult, assistant, tool, user
from holdfast.model.profile import Profile

PROFILE = Profile(name="m", cache_seconds=300, cache_minimum=10)
LONG = "word " * 40


def said(*texts: str) -> dict[str, Any]:
    """A request in which a cache ends behind the last text."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    blocks[-1]["cache_control"] = {"type": "ephemeral"}
    return {"messages": [{"role": "user", "content": blocks}]}


def test_what_was_sent_before_is_read_and_only_the_rest_is_written() -> None:
    cache = Cache(PROFILE, Tokens())
    first = cache.charge(said(LONG), 0, 5)
    second = cache.charge(said(LONG, "more"), 1_000, 5)
    assert (first.cache_read, first.cache_write > 40, first.output) == (0, True, 5)
    assert second.cache_read == first.cache_write
    assert 0 < second.cache_write < 20
    assert second.input == 0


def test_a_change_in_the_middle_has_all_behind_it_written_anew() -> None:
    cache = Cache(PROFILE, Tokens())
    cache.charge(said(LONG, LONG), 0, 0)
    changed = cache.charge(said("other", LONG), 1_000, 0)
    assert changed.cache_read == 0
    assert changed.cache_write == changed.prompt


def test_what_nobody_asked_for_in_time_has_run_out() -> None:
    cache = Cache(PROFILE, Tokens())
    cache.charge(said(LONG), 0, 0)
    assert cache.charge(said(LONG), 299_000, 0).cache_read
    assert cache.charge(said(LONG), 598_000, 0).cache_read  # each use keeps it alive
    assert not cache.charge(said(LONG), 899_000, 0).cache_read


def test_what_is_too_short_is_not_cached() -> None:
    cache = Cache(PROFILE, Tokens())
    assert cache.charge(said("hi"), 0, 0).cache_write == 0
    assert cache.charge(said("hi"), 0, 0).cache_read == 0


def log(*bodies: Message) -> list[Entry]:
    return [
        Entry(id=f"e{seq}", session="s", seq=seq, body=body, created=seq, completed=seq)
        for seq, body in enumerate(bodies, 1)
    ]


def test_used_is_what_was_said_before_and_comes_again() -> None:
    entries = log(
        user("Repair the broken login handler soon."),
        assistant(ToolCall("1", "Read", '{"path": "src/login_handler.py"}')),
        tool(ToolResult("1", "def check_password(): pass\ndef never_again(): pass")),
        assistant("Repairing the broken login handler: check_password in src/login_handler.py"),
    )
    (use,) = uses(entries, 1).values()
    assert use.names == {"check_password", "src/login_handler.py"}
    assert use.sentences == {"Repair the broken login handler soon."}
    assert Shown(["check_password"]).share(use) == (1, 3)
    whole = ["src/login_handler.py", "check_password", "Repair the\nbroken login handler "]
    assert Shown([*whole, "soon."]).share(use) == (2, 3)  # a sentence counts whole


def test_cheaper_alone_or_more_alone_does_not_count() -> None:
    ours = Run(OURS, 32_000, "t", False, nano=10, kept=9, wanted=10)
    cheap = Run("cheap", 32_000, "t", False, replies=1, nano=5, kept=1, wanted=10)
    large = Run("large", 32_000, "t", False, replies=1, nano=50, kept=10, wanted=10)
    worse = Run("worse", 32_000, "t", False, replies=1, nano=50, kept=1, wanted=10)
    result = Result("2026-11-15", [ours, cheap, large, worse])
    assert share(ours) == 0.9
    assert [text.split("`")[1] for text in report.lacking(result, 32_000)] == ["cheap", "large"]
