"""What the user of a long conversation says: tasks, rules that hold from then on, facts for later.

Rule 1: what is planted is said once, in the middle of other words, and never repeated.
Rule 2: near the end everything is called for; whoever has lost it by then answers otherwise.
"""

from __future__ import annotations

from random import Random
from typing import Final

from msgspec import Struct

LOG = "logs/build.log"
PARSER = {True: "modern/parser.py", False: "legacy/parser.py"}

ZEBRA, HERON = "ZEBRA-17", "HERON-42"
REPORT, TAG, BUILD, CODES = "docs/out/report-7f3a.md", "v7.3.1-rc2", "b-91f2c-0455", "KST-"

FILLER = (
    "The parser keeps its own table of names and asks the store only when a name is new to it. "
)
PAPER = (
    "Here is the paper of the team on how errors are told. It was written by several hands.\n\n"
    + FILLER * 22
    + "Error codes of the importer begin with KST- and have four digits.\n\n"
    + FILLER * 22
)
"""Longer than what is read for constraints: what it says can only be found again."""


class Planted(Struct, frozen=True, kw_only=True):
    """Something that the user says once."""

    name: str
    at: float
    """When, as a share of the whole."""
    said: str
    pattern: str
    """How whoever reads it finds it."""


PLANTED: Final = (
    Planted(name="prefix", at=0.02, said=f"From now on, begin every answer with {ZEBRA}.",
            pattern=r"begin every answer with ([A-Z]+-\d+)"),
    Planted(name="legacy", at=0.04, said="Never touch anything below legacy/.",
            pattern=r"[Nn]ever touch anything below (\w+/)"),
    Planted(name="report", at=0.07,
            said=f"The report must go to {REPORT} when I ask for it, and nowhere else.",
            pattern=r"report must go to (\S+\.md)"),
    Planted(name="build", at=0.09, said="Look into the log of the build first.",
            pattern=r"build id: (b-[\w-]+)"),
    Planted(name="check", at=0.30, said="Always run ./check.sh before you say that a fix is done.",
            pattern=r"[Aa]lways run (\S+\.sh) before"),
    Planted(name="tag", at=0.40, said=f"By the way, the release tag is {TAG}; we cut it on Friday.",
            pattern=r"release tag is (v[\w.-]+\w)"),
    Planted(name="codes", at=0.45, said=PAPER,
            pattern=r"codes of the importer begin with ([A-Z]+-)"),
    Planted(name="correction", at=0.55,
            said=f"Correction: no longer {ZEBRA}. Instead begin every answer with {HERON} "
                 "from now on.",
            pattern=r"no longer ([A-Z]+-\d+)"),
)  # fmt: skip

PATTERNS: Final = {one.name: one.pattern for one in PLANTED}

TASKS = ("look around in the sources.", "count the lines that matter.", "try the slow path again.",
         "write down what module {} does.", "find where value_{} is set.",
         "rename the helper of {}.", "see why step {} was slow.",
         "compare the two halves of list {}.")  # fmt: skip

ENDING = {
    "report": "write the report now, to the file I named for it.",
    "tag": "which release tag did I name? Say it.",
    "build": f"which build id stood in {LOG}? Do not read the file again.",
    "codes": "what do error codes of the importer begin with?",
    "check": "fix the last thing that fails, and say when the fix is done.",
    "legacy": "tidy the parser, wherever that may be done.",
}
"""What is called for at the end, one turn each."""

MEANWHILE = ("legacy", "check")
"""What is called for again and again."""


class Turn(Struct, frozen=True, kw_only=True):
    """One thing that the user says."""

    number: int
    text: str
    calls_for: str = ""
    """What was planted and is called for here."""
    looks: bool = False
    """Whether the log of the build is to be read."""


def story(turns: int, seed: int) -> list[Turn]:
    """Everything the user says, in order."""
    chance = Random(seed)
    planted = _placed(turns)
    endings = dict(enumerate(ENDING, turns - len(ENDING)))
    told: list[Turn] = []
    for number in range(turns):
        calls_for = endings.get(number, "")
        known = [one.name for at, one in planted.items() if at < number and one.name in MEANWHILE]
        if not calls_for and known and number % 9 == 0 and number not in planted:
            calls_for = chance.choice(known)
        task = ENDING[calls_for] if calls_for else chance.choice(TASKS).format(number)
        said = planted[number].said if number in planted else ""
        told.append(
            Turn(
                number=number,
                text=f"turn {number}: {task} {said}".strip(),
                calls_for=calls_for,
                looks=number in planted and planted[number].name == "build",
            )
        )
    return told


def _placed(turns: int) -> dict[int, Planted]:
    """What is planted at which turn; one thing at a time."""
    placed: dict[int, Planted] = {}
    for one in PLANTED:
        placed[max(round(one.at * turns), max(placed, default=0) + 1)] = one
    return placed
