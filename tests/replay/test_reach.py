"""What left the window is found within one call: strings that were used again, in real sessions.

A string is what an assistant wrote or called with and what had stood more than eight entries
before: a path, a dotted name, a flag, a version, a number, a hash, an error, a quotation.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.core.search.searchable_text import searchable_body
from holdfast.core.secrets import mask
from holdfast.engine.client import Session
from holdfast.model.message import Message

A_SESSION = 300
"""So many strings of one session at most."""
BEFORE = 8
PROGRAMS = ("claude", "codex", "other-pi", "gemini", "opencode", "aider")

REFERENCE = re.compile(
    r'"[^"\n]{6,80}"|`[^`\n]{6,80}`|--[a-z][\w-]{4,}|(?:/?[\w.@~-]+/)+[\w.@-]+'
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(\))?|\w*_\w+|[a-z]+[A-Z]\w+|v?\d+\.\d+(?:\.\d+)+"
    r"|\b[0-9a-f]{7,40}\b|\d{6,}|\w+Error"
)


def references(session: Session, dice: random.Random) -> list[str]:
    """Strings of a session that were used again."""
    entries = list(session.entries())
    texts = ["\n".join(searchable_body(entry.body)) for entry in entries]
    found: set[str] = set()
    for at, entry in enumerate(entries):
        if at <= BEFORE or not (isinstance(entry.body, Message) and entry.body.role == "assistant"):
            continue
        wanted = {one.strip('"`') for one in REFERENCE.findall(texts[at])}
        past = mask("\n".join(texts[: at - BEFORE]))
        found |= {one for one in wanted if len(one) >= 6 and one in past}
        if len(found) > 2 * A_SESSION:
            break
    return dice.sample(sorted(found), min(len(found), A_SESSION))


def sampled(folder: Path, shared_data: Path, many: int) -> Iterator[tuple[Session, str]]:
    """So many strings, each with its session."""
    dice, left = random.Random(2026), many
    with holdfast.open(folder / "log.db") as hf:
        found = hf.transcripts(*(shared_data / "transcripts" / name for name in PROGRAMS))
        sources = sorted((one for one in found if 20_000 < one.size < 1_500_000), key=str)
        dice.shuffle(sources)
        for source in sources:
            for imported in hf.import_sources([source]):
                for id in imported.sessions[:1]:
                    session = hf.session(id)
                    for reference in references(session, dice)[:left]:
                        left -= 1
                        yield session, reference
            if not left:
                return


@pytest.mark.parametrize("many", [100, pytest.param(1_000, marks=pytest.mark.long)])
@pytest.mark.timeout(900)  # a thousand searches, beside whatever else runs
def test_every_string_that_was_used_again_is_found_within_one_call(
    many: int, tmp_path: Path, shared_data: Path
) -> None:
    missed: list[str] = []
    asked = 0
    for session, reference in sampled(tmp_path, shared_data, many):
        asked += 1
        if reference not in session.search_history(reference):
            missed.append(reference)
    assert asked == many
    assert missed == []
