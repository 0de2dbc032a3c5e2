"""Constraints, corrections and statuses are found as well as they were when this was written."""

from pathlib import Path

import pytest

from holdfast.core.ledger.wishes.rules import Kind
from tests.ledger.scoring import Score, labels, score_status, score_wishes

FLOORS: list[tuple[Kind, str, float, float]] = [
    ("constraint", "known", 0.80, 0.93),
    ("correction", "known", 0.92, 0.92),
    # What a rule does not know, it does not find: this is what to expect on words never seen.
    ("constraint", "held", 0.70, 0.80),
    ("correction", "held", 0.80, 0.72),
]


@pytest.mark.parametrize(("kind", "of", "precision", "recall"), FLOORS)
def test_wishes_are_found(
    shared_data: Path, kind: Kind, of: str, precision: float, recall: float
) -> None:
    score = score_wishes(shared_data, kind, of)
    assert score.precision >= precision
    assert score.recall >= recall


def test_wishes_are_found_in_chinese_as_well(shared_data: Path) -> None:
    for kind in ("constraint", "correction"):
        score = score_wishes(shared_data, kind, "known", wide=True)
        assert min(score.precision, score.recall) >= 0.85


@pytest.mark.parametrize("status", ["answered", "interrupted", "open"])
def test_the_status_of_every_labelled_request_is_right(shared_data: Path, status: str) -> None:
    assert (
        score_status(shared_data, status).precision,
        score_status(shared_data, status).recall,
    ) == (1, 1)


def test_there_are_enough_labels_and_each_names_its_source() -> None:
    told = labels()
    assert len(told) >= 150
    assert sum(label["set"] == "held" for label in told) >= 50
    assert all(label["source"] and label["quote"] and len(label["quote"]) < 400 for label in told)
    assert sum("status" in label for label in told) >= 100


def test_a_score_knows_right_wrong_and_missed() -> None:
    assert (Score(3, 1, 2).precision, Score(3, 1, 2).recall) == (0.75, 0.6)
    assert (Score(0, 0, 0).precision, Score(0, 0, 0).recall) == (1.0, 1.0)
