"""`python -m tests.ledger` prints how well the ledger does on real transcripts and labels."""

from holdfast.core.ledger.build import ledger
from tests.conftest import SHARED_DATA
from tests.ledger.scoring import Score, labels, score_status, score_wishes
from tests.ledger.test_transcripts import READERS, SESSIONS, agrees


def line(name: str, score: Score) -> str:
    figures = f"{score.right:>6} {score.wrong:>6} {score.missed:>7}"
    return f"{name:<34} {figures} {score.precision:>10.2f} {score.recall:>7.2f}"


def main() -> None:
    if not SHARED_DATA.is_dir():
        raise SystemExit(f"recorded data is missing: {SHARED_DATA}")
    same = sum(agrees(kind, file) for kind, file in SESSIONS)
    known = [ledger(READERS[kind][0](file)) for kind, file in SESSIONS]
    commands = sum(len(one.commands) for one in known)
    files = sum(len(one.files) for one in known)
    print(f"{same} of {len(SESSIONS)} transcripts read exactly: {files} files, {commands} commands")
    print(f"{len(labels())} labelled messages")
    print(f"{'':<34} {'right':>6} {'wrong':>6} {'missed':>7} {'precision':>10} {'recall':>7}")
    for kind in ("constraint", "correction"):
        print(line(f"{kind}, known, Latin script", score_wishes(SHARED_DATA, kind, "known", False)))
        print(line(f"{kind}, known, Chinese", score_wishes(SHARED_DATA, kind, "known", True)))
        print(line(f"{kind}, held out", score_wishes(SHARED_DATA, kind, "held")))
    for status in ("answered", "interrupted", "open"):
        print(line(f"request {status}", score_status(SHARED_DATA, status)))


if __name__ == "__main__":
    main()
