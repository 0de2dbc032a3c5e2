"""The benchmark of retrieval reads LoCoMo's layout and tells of each category and way."""

import json
from pathlib import Path

import pytest

from bench.recall import ALL, BOTH, VECTORS, WORDS, measure, section, table
from bench.recall_data import locomo

SMALL = Path(__file__).with_name("locomo_small.json")


def test_a_file_in_locomos_layout_is_read() -> None:
    (case,) = locomo(SMALL)
    assert [len(turns) for turns in case.sessions.values()] == [3, 3]
    first = case.sessions["session_1"][0]
    assert (first.id, first.role, first.created) == ("D1:1", "user", 1_683_554_160_000)
    assert first.text.startswith("Ada: I planted")
    assert case.sessions["session_2"][1].text.endswith("[shows a photo of a harbour]")
    assert [(one.category, one.turns) for one in case.questions] == [
        ("one turn", {"D1:1"}),
        ("several turns", {"D1:1", "D1:3"}),
        ("time", {"D2:3"}),
    ]


def test_every_way_is_measured_by_category() -> None:
    result = measure(file=SMALL, half=None)
    assert result.questions == {"one turn": 1, "several turns": 1, "time": 1, ALL: 3}
    assert result.messages == 6
    for ways in result.scores.values():
        assert set(ways) == {WORDS, VECTORS, BOTH}
        assert ways[WORDS].ten == 1.0  # six turns are fewer than ten hits
    assert result.scores["one turn"][WORDS].reciprocal == 1.0
    assert "| several turns | 1 |" in table(result).markdown()
    assert "python -m bench recall" in section(result)


def test_every_second_question_is_reported() -> None:
    assert measure(file=SMALL).questions == {"several turns": 1, ALL: 1}


@pytest.mark.parametrize("content", ["{", "[3]", '[{"conversation": {}}]'])
def test_another_layout_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(SystemExit, match="not in LoCoMo's layout"):
        locomo(path)


def test_a_time_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    samples = json.loads(SMALL.read_text())
    samples[0]["conversation"]["session_1_date_time"] = "some day"
    path = tmp_path / "other.json"
    path.write_text(json.dumps(samples))
    (case,) = locomo(path)
    assert case.sessions["session_1"][0].created == 0
