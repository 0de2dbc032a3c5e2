"""The benchmark's own parts work, at sizes that take no time; how long it takes is not asked."""

import math
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from bench import huge, opening, page, picture, store_report
from bench.contenders import HOLDFAST, RAW, Contender, Door, Lines, RawRows, size_of
from bench.corpus import CYCLE, MEAN, conversation, payload, turns
from bench.machine import busy
from bench.measure import CutOff, Series, interleave, ratio, within
from bench.store import JSONL, SHORT, Plan, Result, measure
from bench.table import Table, Target, cell, count, duration, spread, targets

OURS = (JSONL,)
TINY = Plan(
    sizes=(12, 1_000, 1_200), rounds=3, in_a_row=2, budget=30.0, window=7, cold=1, peers=OURS
)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One small run with the contenders that need nothing installed."""
    return measure(TINY, tmp_path_factory.mktemp("bench"))


def test_the_conversation_is_the_same_every_time_and_as_large_as_it_says() -> None:
    said = list(conversation(20))
    assert said == list(conversation(20))
    assert [len(one.text) for one in said[:6]] == [length for _, length in CYCLE]
    assert sum(one.size for one in said) == payload(20)
    assert math.isclose(payload(600) / 600, MEAN)


def test_turns_are_new_each_time() -> None:
    assert len(set(turns(50))) == 50


def test_every_round_asks_everybody_in_an_order_of_its_own() -> None:
    order: list[str] = []
    calls = {name: lambda _, name=name: order.append(name) for name in "abc"}
    taken = interleave(calls, rounds=10, budget=60.0)
    rounds = ["".join(order[at : at + 3]) for at in range(0, len(order), 3)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert len(set(rounds)) > 1
    assert {len(series.seconds) for series in taken.values()} == {10}


def test_repetitions_are_counted_for_each() -> None:
    numbers: list[int] = []
    taken = interleave({"one": numbers.append}, rounds=4, in_a_row=3, budget=60.0)
    assert numbers == list(range(taken["one"].done))


def test_who_takes_longer_than_its_budget_is_cut_off() -> None:
    calls = {"slow": lambda _: time.sleep(30), "quick": lambda _: None}
    taken = interleave(calls, rounds=2, budget=0.05)
    assert taken["slow"].cut_off == 0.05
    assert taken["slow"].median is None
    assert len(taken["quick"].seconds) == 2
    assert cell(taken["slow"], taken["quick"]).endswith("(cut off)")


def test_an_alarm_does_not_outlive_its_block() -> None:
    with within(0.05):
        pass
    time.sleep(0.1)
    with pytest.raises(CutOff), within(0.05):
        time.sleep(30)


def test_medians_spread_and_ratios() -> None:
    one, other = Series([1.0, 2.0, 3.0]), Series([4.0])
    assert one.median == 2.0
    assert one.spread == (1.2, 2.8)
    assert other.spread == (4.0, 4.0)
    assert ratio(one, other) == 0.5
    assert ratio(one, Series()) is None
    assert spread(Series()) == "–"


@pytest.mark.parametrize("make", [Door, Lines])
def test_a_contender_holds_what_it_was_given(
    make: type[Door] | type[Lines], tmp_path: Path
) -> None:
    contender: Contender = make(tmp_path / "it")
    contender.open()
    contender.seed(conversation(30))
    contender.close()
    assert size_of(contender.folder) > payload(30)
    contender.open()
    for said in turns(3):
        contender.turn(*said)
    assert contender.count() == 36
    contender.close()


def test_the_raw_rows_are_the_rows_that_holdfast_writes(tmp_path: Path) -> None:
    door = Door(tmp_path / "door")
    door.open()
    door.seed(conversation(8))
    door.close()
    raw = RawRows(tmp_path / "raw", door)
    raw.open()
    raw.seed(())
    raw.ready(turns(2))
    door.open()
    for said in turns(2):
        door.turn(*said)
        raw.turn(*said)
    rows = (
        "SELECT e.place, e.kind, e.role, e.hash, e.data, p.place, p.kind, p.size, p.estimate, "
        "p.blob, p.data, s.head, s.last_message, s.last_marker FROM entries e "
        "JOIN parts p ON p.place >> 12 = e.place JOIN sessions s ON s.n = e.place >> 29 ORDER BY 1"
    )
    theirs = raw.connection.execute(rows).fetchall()
    assert theirs == opening.connect(door.path).execute(rows).fetchall()
    assert len(theirs) == 12
    door.close()


def test_a_run_measures_everybody_at_every_length(result: Result) -> None:
    assert set(result.append) == {12, 1_000, 1_200}
    assert {HOLDFAST, RAW, JSONL, SHORT} == set(result.append[1_200])
    assert SHORT not in result.append[1_000]
    assert set(result.opening) == set(result.cold) == {HOLDFAST, opening.FLOOR}
    assert (result.size(1_200, HOLDFAST) or 0) > 1


def test_the_raw_numbers_can_be_read_again(result: Result, monkeypatch, tmp_path: Path) -> None:
    import msgspec

    monkeypatch.setattr(page, "RESULTS", tmp_path)
    kept = page.save("store", result)
    assert msgspec.json.decode(kept.read_bytes(), type=Result) == result


def test_the_section_names_no_host_and_no_path(result: Result, tmp_path: Path) -> None:
    import platform

    section = store_report.section(result)
    assert "## The store" in section
    assert "**Holdfast**" in section
    assert platform.node() not in section
    assert str(tmp_path) not in section
    assert str(Path.home()) + "/" not in section


def test_the_terminal_gets_the_same_tables(
    result: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    store_report.show(result)
    assert "Holdfast" in capsys.readouterr().out


def test_a_busy_machine_is_known_as_one(result: Result) -> None:
    quiet = replace(result.machine, cores=2, load=(0.5, 1.5), real_time=False)
    assert not busy(quiet)
    assert busy(replace(quiet, load=(0.5, 3.0)))
    assert busy(replace(quiet, load=(3.0, 0.5)))
    assert not busy(replace(quiet, load=(3.0, 3.0), real_time=True))


def test_a_section_replaces_only_itself(tmp_path: Path) -> None:
    file = tmp_path / "docs" / "benchmarks.md"
    page.write("one", "old words", file)
    page.write("two", "other words", file)
    page.write("one", "new words", file)
    text = file.read_text("utf-8")
    assert text.startswith("# Benchmarks\n")
    assert "old words" not in text
    assert text.index("new words") < text.index("other words")


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="only the environment of `make bench` has it")
    path = tmp_path / "p.svg"
    lines = {HOLDFAST: [(100, 1.0), (1000, 1.1)], RAW: [(100, 0.9)], "cut off": []}
    picture.draw(lines, {HOLDFAST: 1.3}, ("a", "b"), path, HOLDFAST, RAW)
    assert HOLDFAST in path.read_text("utf-8")


def test_targets_say_what_holds() -> None:
    kept = [Target("small", 1.0, 1.3), Target("large", 2.0, 1.3), Target("none", None, 1.3)]
    assert [target.holds for target in kept] == [True, False, False]
    assert [row[-1] for row in targets(kept).rows] == ["holds", "**fails**", "**fails**"]


def test_numbers_as_people_say_them() -> None:
    assert [duration(s) for s in (0.000123, 0.0456, 0.5, 2.5, 130)] == [
        "0.12 ms", "45.6 ms", "500 ms", "2.50 s", "130 s",
    ]  # fmt: skip
    assert [count(n) for n in (100, 1_000, 100_000, 1_234)] == ["100", "1k", "100k", "1,234"]
    table = Table(("a", "b"), [("x", "1")])
    assert table.markdown() == "| a | b |\n| --- | ---: |\n| x | 1 |"


def test_a_long_session_is_read_in_little_memory(tmp_path: Path) -> None:
    """64 MB, read whole: what grows while reading is a small fraction of it."""
    told = huge.measure(64_000_000, tmp_path, limit=200_000_000)
    for reading in told.readings.values():
        assert reading.peak - reading.opened < 16_000_000
    assert told.readings[huge.WHOLE].entries == told.messages
    assert told.readings[huge.SUMMARISED].entries == huge.WINDOW + 1
    assert "larger than memory" in huge.section(told)
