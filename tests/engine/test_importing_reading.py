"""An import tells how far it is within a file that takes a while."""

from pathlib import Path

import holdfast
from tests.importers.writing import Transcript


def test_reading_is_told_as_it_goes_on(tmp_path: Path) -> None:
    told = Transcript()
    for number in range(600):
        told.user(f"{number} " + "word " * 50)
    path = told.write(tmp_path)
    steps: list[int] = []
    with holdfast.open(tmp_path / "store.db") as hf:
        sources = hf.transcripts(path)
        (report,) = hf.import_sources(sources, reading=lambda source, read: steps.append(read))
    assert report.size == path.stat().st_size
    assert len(steps) >= 5
    assert steps == sorted(steps)
    assert 0 < steps[0] < report.size // 2
    assert steps[-1] == report.size
