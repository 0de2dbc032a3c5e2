"""Whether a summary that quotes does so word for word."""

import re
from collections.abc import Sequence

from holdfast.core.extract import HEADING, INDEX
from holdfast.core.extract import name_index as listed
from holdfast.core.extract.quotes import GAP
from holdfast.core.ledger.checks.matching import plain
from holdfast.core.search.searchable_text import searchable
from holdfast.model.log import Entry
from holdfast.model.message import Message

QUOTED = re.compile(r"- (?:user asked|assistant|tool|summary): (.+) #(\d+)\Z")


def unfaithful(text: str, entries: Sequence[Entry]) -> list[str]:
    """What a text quotes or lists that does not stand in the entry it names; other lines whole."""
    said = {
        entry.seq: plain("\n".join(map(searchable, entry.body.parts)))
        for entry in entries
        if isinstance(entry.body, Message)
    }
    wrong: list[str] = []
    listing = False
    for line in text.splitlines():
        if line in (HEADING, INDEX):
            listing = line == INDEX
        elif not listing and (quoted := QUOTED.match(line)):
            parts = quoted[1].removesuffix(" …").split(GAP)
            wrong += [part for part in parts if part not in said[int(quoted[2])]]
        elif listing and (found := listed.read(line)):
            wrong += [name for name in found[1] if name not in said[found[0]]]
        else:
            wrong.append(line)
    return wrong
