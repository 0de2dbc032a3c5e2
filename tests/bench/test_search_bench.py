"""The invented archive holds what is looked for, once in the store and once as lines."""

from pathlib import Path

import holdfast
from bench import archive, search
from bench.measure import Series
from bench.progress import silent


def test_what_is_looked_for_is_there_in_both_forms(tmp_path: Path) -> None:
    corpus = archive.built(tmp_path / "a", 1000, silent)
    assert 0.4 < corpus.share < 0.75
    files = (tmp_path / "a/jsonl").iterdir()
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    assert len(lines) == 1000
    with holdfast.open(tmp_path / "a/log.db") as hf:
        for one, other in corpus.pairs:
            assert hf.search(f"{one} {other}")
        assert len(hf.search(corpus.common, limit=1000)) >= corpus.share * 1000
        assert hf.search(corpus.common, tool="grep")
        assert hf.search(corpus.common, path="src/area3")
        assert hf.search(corpus.common, project="work1")
    assert archive.built(tmp_path / "a", 1000, silent) == corpus


def test_the_late_ones_are_told() -> None:
    assert (search.late(Series(seconds=[0.001] * 19 + [0.1])) or 0) > 1.0
    assert search.late(Series(seconds=[0.1])) is None
