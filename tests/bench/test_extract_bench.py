"""The benchmark of the summary without a model works, and counts what it says it counts."""

from pathlib import Path

import pytest

from bench import extract_report as report
from bench.extract import AGAIN, ALL, HALF, OURS, SHED, WAYS, Replayed, Result, Share, measure, shed
from bench.replay import cuts, following, names, transcripts, with_ends, words, written
from holdfast.core.tokens.estimate import estimate
from holdfast.model.log import Entry
from holdfast.model.message import Message, ToolCall, ToolResult, assistant, tool, user


def log(*bodies: Message) -> list[Entry]:
    return [
        Entry(id=f"e{seq}", session="s", seq=seq, body=body, created=seq, completed=seq)
        for seq, body in enumerate(bodies, 1)
    ]


def turns(number: int) -> list[Entry]:
    said = [user("Go.")]
    for at in range(number):
        said += [assistant(ToolCall(str(at), "Bash", "{}")), tool(ToolResult(str(at), f"{at}"))]
    return log(*said)


def test_names_are_told_by_their_shape() -> None:
    text = "see src/a/b.py, fold_all, parseAll, E0308x TS2345 4f2a91cd, https://x.io/y plain words"
    assert names(text) == {
        *("src/a/b.py", "fold_all", "parseAll", "TS2345", "4f2a91cd", "https://x.io/y"),
    }


def test_braces_are_written_out_for_everybody() -> None:
    assert names("src/core/{fold.py, shed.py}") == {"src/core/fold.py", "src/core/shed.py"}


def test_who_has_a_path_has_its_ends() -> None:
    assert with_ends({"src/a/b.py"}) == {"src/a/b.py", "a/b.py", "b.py"}


def test_cuts_come_every_ten_turns_and_leave_twenty() -> None:
    entries = turns(45)
    assert cuts(turns(29)) == []
    assert [entries[cut].seq for cut in cuts(entries)] == [22, 42]
    assert len(following(entries, cuts(entries)[0])) == 40
    assert len(cuts(turns(400))) == 12


def test_fields_of_tools_are_not_counted_and_results_are_not_written() -> None:
    (call,) = log(assistant("so", ToolCall("1", "Edit", '{"file_path": ["a/b_c.py"]}')))
    assert words(call) == written(call) == "so\na/b_c.py"
    (result,) = log(tool(ToolResult("1", "printed")))
    assert (words(result), written(result)) == ("printed", "")


def test_shed_keeps_the_newest_and_the_end_of_what_does_not_fit() -> None:
    entries = log(user("first " * 100), user("second " * 100), user("the end"))
    text, place = shed(entries, 60)
    assert text.endswith("the end")
    assert "second" in text
    assert "first" not in text
    assert place == 2
    assert estimate(text) <= 60
    assert shed(entries[-1:], 60) == ("[#3 user]\nthe end", 0)


def test_a_mean_is_that_of_the_transcripts() -> None:
    def share(kept: float) -> Share:
        return Share(1_000, ALL, 10, dict.fromkeys(WAYS, kept))

    one = Replayed("a", False, 2, [share(0.2), share(0.4)])
    other = Replayed("b", False, 1, [share(0.7)])
    tuned = Replayed("c", True, 1, [share(1.0)])
    result = Result("2026-01-01", [one, other, tuned])
    assert result.mean(OURS, ALL, 1_000) == pytest.approx(0.5)
    assert result.count(1_000) == (2, 3)
    assert result.mean(OURS, ALL, 2_000) is None


def test_real_transcripts_are_replayed_and_told(shared_data: Path) -> None:
    result = measure(budgets=(1_000,), most=2, wanted=lambda one: one.name.startswith("codex/hk"))
    (share, _) = result.transcripts[0].shares
    assert set(share.kept) == {SHED, OURS, AGAIN, HALF}
    assert share.kept[OURS] > share.kept[SHED]
    assert "1k tokens" in report.section(result)
    report.show(result)


def test_projects_are_never_on_both_sides(shared_data: Path) -> None:
    found = list(transcripts())
    tuned = {one.project for one in found if one.tuning}
    assert tuned
    assert tuned.isdisjoint(one.project for one in found if not one.tuning)


def test_without_data_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="recorded data is missing"):
        list(transcripts(tmp_path / "none"))
