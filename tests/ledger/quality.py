"""`python -m tests.ledger.quality DIRECTORY` prints how well constraints and corrections are found
in public sessions that were labelled before the rules were changed.

`heldout.jsonl` names sessions that people have committed to public repositories, each message by
the hash of its words and its two labels, given by `labelling.md` before any rule was tried on them.
The words themselves are not here: DIRECTORY holds a clone of each repository, as `owner+name` or
`owner+name/repo`. What a clone no longer holds is told, and not counted.

Sessions were labelled in two lots, by a reader who knew none of the rules of that day. The first
316 were read before the rules were changed the first time. Of the second lot a session is held out
where the first two bytes of the SHA-256 of `owner/name/path` (and `#run`) are odd; the others, in
`development.jsonl`, are what the rules were then changed on.

All that is held out was then read a second time, by a more precise guide that decides what the
first had left open: a message has the two labels of the first reading, and behind them those of the
second where it was read. The second is what counts; how far the two agree is printed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.core.ledger.requests import prose
from holdfast.core.ledger.wishes.recognise import wishes
from holdfast.core.ledger.wishes.rules import Kind
from tests.ledger.scoring import Score

HELDOUT = Path(__file__).with_name("heldout.jsonl")
DEVELOPMENT = Path(__file__).with_name("development.jsonl")
KINDS: tuple[Kind, ...] = ("constraint", "correction")

_SPEAKER = re.compile(r"^(?=_\*\*(?:User|Assistant|Agent)[^\n]*\*\*_)", re.MULTILINE)
_RUN = re.compile(r"^# aider chat started at ", re.MULTILINE)
_WIDE = re.compile("[\u4e00-\u9fff]")


Label = bool | None


class Judged(NamedTuple):
    """A message, whether it is the first of its session, and its labels."""

    text: str
    first: bool
    labels: dict[str, Label]
    labelling: int = 1

    before: dict[str, Label] | None = None
    """The labels of the first reading, where it was read twice."""


def sessions(file: Path | None = None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (file or HELDOUT).read_text("utf-8").splitlines()]


def messages(text: str, path: str, run: str) -> list[str]:
    """What the user said in a session, each message once."""
    said = _aider(text, run) if path.endswith(".aider.chat.history.md") else _exported(text)
    return list(dict.fromkeys(one for one in said if one))


def _exported(text: str) -> Iterator[str]:
    for part in _SPEAKER.split(text):
        if part.startswith("_**User"):
            body = part.partition("\n")[2].strip()
            yield re.sub(r"\n---\s*$", "", body).strip()


def _aider(text: str, run: str) -> Iterator[str]:
    told = next((one for one in _RUN.split(text.replace("\r\n", "\n")) if one.startswith(run)), "")
    said: list[str] = []
    for line in [*told.split("\n"), ""]:
        if line.startswith("#### "):
            said.append(line[5:].rstrip())
        elif said:
            yield "\n".join(said).strip()
            said = []


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def judged(home: Path, file: Path | None = None) -> Iterator[Judged]:
    """Every labelled message that a clone still holds."""
    for session in sessions(file):
        text = _shown(home, session)
        said = messages(text, session["path"], session.get("run", "")) if text else []
        places = {digest(one): place for place, one in enumerate(said)}
        for name, *labels in session["labels"]:
            if name in places:
                readings: list[dict[str, Label]] = [
                    {KINDS[0]: one, KINDS[1]: two}
                    for one, two in zip(labels[::2], labels[1::2], strict=True)
                ]
                first, lot = places[name] == 0, session.get("labelling", 1)
                before = readings[0] if len(readings) > 1 else None
                yield Judged(said[places[name]], first, readings[-1], lot, before)


def _shown(home: Path, session: dict[str, Any]) -> str:
    clone = home / session["repository"].replace("/", "+", 1)
    clone = clone / "repo" if (clone / "repo").is_dir() else clone
    command = ["git", "-C", str(clone), "show", f"{session['commit']}:{session['path']}"]
    return subprocess.run(command, capture_output=True, check=False).stdout.decode(
        "utf-8", "replace"
    )


def score(found: list[Judged], kind: Kind, wide: bool | None = None) -> Score:
    """Right, wrong and missed, message by message; `wide` chooses Chinese or the rest."""
    told = [
        (bool(wishes(1, prose(one.text), kind, begun=not one.first)), one.labels[kind])
        for one in found
        if one.labels[kind] is not None and wide in (None, bool(_WIDE.search(one.text)))
    ]
    return Score(told.count((True, True)), told.count((True, False)), told.count((False, True)))


def first_reading(found: list[Judged]) -> list[Judged]:
    """The same messages with the labels of the first reading."""
    return [one._replace(labels=one.before or one.labels) for one in found]


def agreement(found: list[Judged], kind: Kind) -> tuple[int, float, float]:
    """Of how many messages both readings say something, how often the same, and Cohen's kappa."""
    pairs = [
        (one.before[kind], one.labels[kind])
        for one in found
        if one.before and None not in (one.before[kind], one.labels[kind])
    ]
    if not pairs:
        return 0, 1.0, 1.0
    same = sum(first == second for first, second in pairs) / len(pairs)
    one, two = (sum(bool(pair[at]) for pair in pairs) / len(pairs) for at in (0, 1))
    chance = one * two + (1 - one) * (1 - two)
    return len(pairs), same, (same - chance) / (1 - chance) if chance < 1 else 1.0


def line(name: str, told: Score) -> str:
    figures = f"{told.right:>6} {told.wrong:>6} {told.missed:>7}"
    return f"{name:<30} {figures} {told.precision:>10.2f} {told.recall:>7.2f}"


def report(name: str, found: list[Judged], known: int) -> None:
    print(f"{name}: {len(found)} of {known} labelled messages are there")
    print(f"{'':<30} {'right':>6} {'wrong':>6} {'missed':>7} {'precision':>10} {'recall':>7}")
    for kind in KINDS:
        print(line(kind, score(found, kind)))
        for labelling in sorted({one.labelling for one in found}):
            some = [one for one in found if one.labelling == labelling]
            print(line(f"{kind}, lot {labelling}", score(some, kind)))
        if any(one.before for one in found):
            print(line(f"{kind}, first reading", score(first_reading(found), kind)))
            many, same, kappa = agreement(found, kind)
            print(f"{'':<4}{many} read alike by {same:.3f}, kappa {kappa:.3f}")
        print(line(f"{kind}, Chinese", score(found, kind, True)))
        print(line(f"{kind}, other languages", score(found, kind, False)))


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("name the directory that holds the clones")
    for name, file in (("held out", HELDOUT), ("development", DEVELOPMENT)):
        known = sum(len(one["labels"]) for one in sessions(file))
        report(name, list(judged(Path(sys.argv[1]), file)), known)


if __name__ == "__main__":
    main()
