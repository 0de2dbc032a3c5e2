"""The window's and the counters' benchmarks work, at sizes that take no time."""

from itertools import pairwise
from pathlib import Path

import pytest

from bench import counting, crowded, picture, window, window_report
from bench.contenders import HOLDFAST, RAW
from bench.corpus import conversation
from bench.kinds import KINDS, SIZE, pieces, text
from bench.measure import Series
from bench.preparing import Floor, Growing, Step, body, called, plain_message, steps
from bench.table import Target
from bench.window import FRESH, HELD, Plan, Result, check, measure

TINY = Plan(sizes=(60, 120), rounds=3, crowded=1, peers=())


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One small run with nobody else."""
    return measure(TINY, tmp_path_factory.mktemp("bench"))


def test_every_tool_output_has_the_call_it_answers() -> None:
    said = list(steps(60))
    assert [step.text for step in said] == [one.text for one in conversation(60)]
    for before, after in pairwise(said):
        if after.role == "tool":
            assert before.role == "assistant"
            assert before.call == after.call
    assert len({step.call for step in said if step.call}) == 20


def test_a_message_without_an_answer_calls_nothing() -> None:
    assert not any(step.call for step in called(iter(conversation(2))))


def test_ours_and_the_floor_make_the_same_bytes_as_the_conversation_goes_on(
    tmp_path: Path,
) -> None:
    growing = Growing(tmp_path, 400)
    floor = Floor(growing)
    first = check(growing, floor)
    growing.grow(Step("assistant", "done"), Step("user", "and now?"))
    floor.look()
    assert len(check(growing, floor)) > len(first)
    floor.close()
    growing.close()


def test_a_message_is_the_same_in_each_library() -> None:
    step = Step("assistant", "on it", "call_1")
    said = plain_message(step)
    assert said["tool_calls"][0]["function"]["arguments"] == body(step).parts[1].input


def test_everybody_was_measured(result: Result) -> None:
    assert set(result.taken) == {60, 120}
    assert {FRESH, HELD, RAW} <= set(result.taken[60])
    assert all(series.seconds for taken in result.taken.values() for series in taken.values())


def test_what_was_trimmed_fits(result: Result) -> None:
    assert result.fitted
    assert crowded.over(result.fitted, HOLDFAST) == 0
    assert crowded.target(result.fitted).holds


def test_the_report_has_every_target_and_table(result: Result) -> None:
    told = window_report.section(result)
    assert told.count("| target |") == 1
    assert "not measured" in told  # nobody else was asked
    window_report.show(result)


def test_the_picture_is_drawn_where_its_library_is(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    window_report.draw(result, tmp_path / "window.svg")
    assert picture.OURS in (tmp_path / "window.svg").read_text("utf-8")


def test_there_is_as_much_of_each_kind_as_it_says() -> None:
    for kind in KINDS:
        assert len(text(kind)) == SIZE
        assert len(pieces(kind)[0]) == 4_000


def test_counting_says_what_it_measured() -> None:
    made = counting.measure(counting.Plan(rounds=1, pieces=1))
    assert made.tokens >= counting.PROMPT
    told = counting.section(made)
    assert all(f"| {kind} |" in told for kind in KINDS)
    counting.show(made)


def test_a_target_may_be_the_least() -> None:
    assert Target("fast", 12.0, 10, least=True).holds
    assert not Target("slow", 9.0, 10, least=True).holds
    assert Target("much", 2_000.0, 1_000, least=True).bound == "≥ 1,000×"


def test_a_series_that_is_missing_is_no_target_kept() -> None:
    assert not Target("none", window_report.ratio(None, Series([1.0])), 10, least=True).holds
    assert window.short(FRESH) != FRESH
