"""Summaries that a model really wrote are accepted, and refused once they are changed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.checks import mentions
from holdfast.core.ledger.checks.mentions import Known
from holdfast.core.ledger.checks.objections import objections
from holdfast.core.search.searchable_text import searchable_body
from holdfast.model.ledger import Ledger
from holdfast.model.message import Message, SummaryText
from tests.ledger.transcripts import claude

FILES = ("cipher-box/c6-44f3afc869-1", "cli/98-78b713483d-0", "cli/9b-04c3d92e38-2")


def summaries(data: Path) -> Iterator[tuple[Ledger, str, str]]:
    """Each summary with the ledger and the text of what it covers."""
    for name in FILES:
        log = claude(data / "transcripts" / "claude" / f"{name}.jsonl")
        for place, entry in enumerate(log):
            parts = entry.body.parts if isinstance(entry.body, Message) else ()
            for part in parts:
                if isinstance(part, SummaryText):
                    words = (text for one in log[:place] for text in searchable_body(one.body))
                    yield ledger(log[:place]), part.text, "\n".join(words)


def test_there_are_summaries(shared_data: Path) -> None:
    assert len(list(summaries(shared_data))) == len(FILES)


def test_of_real_summaries_only_what_the_log_does_not_hold_is_refused(shared_data: Path) -> None:
    found = [
        one
        for known, text, covered in summaries(shared_data)
        for one in objections(known, text, covered)
    ]
    # The file of the whole transcript, an address and the instruction file stand outside the log.
    assert sorted((one.rule, one.text.rsplit("/", 1)[-1]) for one in found) == [
        ("invented-identifier", "2"),
        ("invented-path", "CLAUDE.md"),
        ("renamed-file", ".REDACTED.jsonl"),
    ]


@pytest.mark.parametrize("ending", ["_renamed", "2"])
def test_every_path_of_a_real_summary_that_is_renamed_is_refused(
    shared_data: Path, ending: str
) -> None:
    tried = 0
    for known, text, covered in summaries(shared_data):
        words = Known(known, covered)
        for path in {path for path in mentions.paths(text) if words.has_path(path) and "." in path}:
            stem, dot, kind = path.rpartition(".")
            other = f"{stem}{ending}{dot}{kind}"
            if dot and stem and "/" not in kind and not words.has_path(other):
                changed = text.replace(path, other)
                rules = {
                    one.rule for one in objections(known, changed, covered) if other in one.text
                }
                assert rules & {"renamed-file", "invented-path"}
                tried += 1
    assert tried > 30
