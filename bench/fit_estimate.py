"""Fit and judge the weights of `holdfast.core.tokens.estimate` against counts of o200k_base.

    python bench/fit_estimate.py fit     VOCABULARY FOLDER    prints the grids to paste
    python bench/fit_estimate.py judge   VOCABULARY FOLDER    prints the error of each kind of text
    python bench/fit_estimate.py golden  VOCABULARY FILE      rewrites the exact counts in FILE
    python bench/fit_estimate.py speed

VOCABULARY is the file o200k_base.tiktoken. FOLDER has one folder per kind of text (prose, code,
json …, and `l-th` for short lines in Thai), each with any number of UTF-8 files; of each kind at
most MOST pieces are taken to fit, and a kind weighs what SHARES says however much of it there is.
Fit on one folder, choose between fits on a second, and take BOUND from a third that was never
looked at, with texts from elsewhere each time. Needs tiktoken.

Method: texts are cut in pieces of 4 kB; the weight of each pair of kinds is found by least squares
on the relative error, kept at or above zero, drawn slightly to PRIOR so that rare pairs stay sane,
and repeated with pieces that fit badly counting less. Weights are then rounded one by one to what
the module can write, each time letting the others make up for it.
"""

import base64
import hashlib
import json
import sys
import time
from collections import Counter
from operator import mul
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import tiktoken
from tiktoken_ext import openai_public

from holdfast.core.tokens.estimate import (
    COARSE,
    KINDS,
    SCRIPTS,
    UNIT,
    estimate,
    pairs,
    plain,
    script_pairs,
)

SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
PIECE = 4096
SHORTEST = 200
GRID = 256
SIZE = 2 * GRID
"""The pairs of kinds, and behind them the pairs of scripts."""
MOST = 150
PRIOR = 0.15
PULL = 1e-4
ROUNDS = 4
SWEEPS = 40
FAR = 0.05
SHARES = {"prose": 20, "terminal": 10, "code": 6, "json": 6, "base64": 6, "chinese": 6}
LANGUAGE = ("l-", 0.05)
"""What a kind of text counts for in the fit, where that is not 1."""
RUNS = {"blank": 1, "break": 4, "vowel": 8, "other vowel": 16, "A": 8, "digit": 21, "rule": 1}
"""Long runs of one kind are too seldom to fit, but the vocabulary says what they cost: a token
holds up to 64 blanks or rules (128 blanks, see `plain`), 16 breaks, 8 same letters, 3 digits."""
LEVELS = sorted({(COARSE * high + low) / UNIT for high in range(9) for low in range(9)})


def fixed() -> dict[int, float]:
    """The weights that are known beforehand."""
    names = [name for name, _ in KINDS]
    return {names.index(name) * 17: weight / UNIT for name, weight in RUNS.items()}


def live() -> list[int]:
    """The weights to be found: pairs of ASCII by kind, those with anything else by script."""
    kinds = [kind for kind, (_, members) in enumerate(KINDS) if max(members) < 128]
    scripts = [kind for kind, (_, members) in enumerate(SCRIPTS) if max(members) < 128]
    told = {first * 16 + second for first in scripts for second in scripts}
    return [
        *(first * 16 + second for first in kinds for second in kinds),
        *(GRID + pair for pair in range(GRID) if pair not in told),
    ]


FIXED = fixed()
LIVE = live()
ALIVE = frozenset(LIVE)


class Piece(NamedTuple):
    """One piece of text: what it is made of and what it costs."""

    kind: str
    text: str
    tokens: int
    share: float


class Row(NamedTuple):
    """One equation: how often each pair occurs per token, and how much the equation counts."""

    cells: list[tuple[int, float]]
    share: float


def vocabulary(path: Path) -> tiktoken.Encoding:
    """The exact tokenizer, from a local file that is checked first."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise SystemExit(f"{path} is not o200k_base.tiktoken")
    lines = (line.split() for line in data.splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    with mock.patch.object(openai_public, "load_tiktoken_bpe", return_value=ranks):
        return tiktoken.Encoding(**openai_public.o200k_base())


def read(folder: Path, encoding: tiktoken.Encoding, most: int | None = None) -> list[Piece]:
    """The pieces of all kinds under a folder; of each kind at most so many, drawn by lot."""
    pieces: list[Piece] = []
    for kind in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(path for path in kind.rglob("*") if path.is_file())
        texts = [text for path in files for text in cut(path.read_bytes())]
        texts = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())[:most]
        counts = [len(encoding.encode_ordinary(text)) for text in texts]
        pieces += [
            Piece(kind.name, text, tokens, share(kind.name) / len(texts))
            for text, tokens in zip(texts, counts, strict=True)
        ]
    return pieces


def share(kind: str) -> float:
    """What a kind of text counts for."""
    prefix, less = LANGUAGE
    return less if kind.startswith(prefix) else SHARES.get(kind, 1)


def cut(data: bytes) -> list[str]:
    """Pieces of a file, without the halves of characters at their ends."""
    starts = range(0, len(data), PIECE)
    texts = (data[start : start + PIECE].decode("utf-8", "ignore") for start in starts)
    return [text for text in texts if len(text) >= SHORTEST]


def row(piece: Piece) -> Row:
    """The equation of a piece."""
    data = plain(piece.text.encode())
    counts = Counter(pairs(data)) + Counter(GRID + pair for pair in script_pairs(data))
    alive = [(pair, count / piece.tokens) for pair, count in counts.items() if pair in ALIVE]
    return Row(alive, piece.share)


def guess(cells: list[tuple[int, float]], weights: list[float]) -> float:
    """Estimated over exact tokens."""
    return sum(count * weights[pair] for pair, count in cells)


def normal(rows: list[Row], weights: list[float]) -> tuple[list[list[float]], list[float]]:
    """The normal equations, with rows that the present weights fit badly counting less."""
    matrix = [[0.0] * SIZE for _ in range(SIZE)]
    target = [PULL * PRIOR] * SIZE
    for index in range(SIZE):
        matrix[index][index] = PULL
    for cells, share in rows:
        trust = share * min(1, FAR / max(abs(guess(cells, weights) - 1), 1e-9))
        for left, count in cells:
            scaled, line = count * trust, matrix[left]
            target[left] += scaled
            for right, other in cells:
                line[right] += scaled * other
    return matrix, target


def better(weights: list[float], index: int, line: list[float], goal: float) -> float:
    """The best value of one weight while the others stay."""
    if index in FIXED:
        return FIXED[index]
    return weights[index] + (goal - sum(map(mul, line, weights))) / line[index]


def solve(rows: list[Row]) -> list[float]:
    """Weights of all pairs, rounded to what the module can write."""
    weights = [PRIOR if index in ALIVE else 0.0 for index in range(SIZE)]
    matrix, target = normal(rows, weights)
    for _ in range(ROUNDS):
        for _ in range(SWEEPS):
            for index in LIVE:
                weights[index] = max(0.0, better(weights, index, matrix[index], target[index]))
        matrix, target = normal(rows, weights)
    weights = [nearest(weight) for weight in weights]
    for _ in range(SWEEPS):
        before = list(weights)
        for index in LIVE:
            weights[index] = nearest(better(weights, index, matrix[index], target[index]))
        if weights == before:
            break
    return weights


def nearest(weight: float) -> float:
    """The level closest to a weight."""
    return min(LEVELS, key=lambda level: abs(level - weight))


def show(name: str, kinds: tuple[tuple[str, bytes], ...], weights: list[float]) -> None:
    """A grid as source."""
    print(f"{name}: Final[tuple[tuple[int, ...], ...]] = (")
    print("    #  " + "  ".join(f"{kind[:3]:3}" for kind, _ in kinds).rstrip())
    for index, (kind, _) in enumerate(kinds):
        line = weights[index * 16 : index * 16 + 16]
        print("    (" + ", ".join(f"{round(weight * UNIT):3}" for weight in line) + f"),  # {kind}")
    print(")")


def judge(pieces: list[Piece]) -> None:
    """Errors per kind: of the whole, and of pieces."""
    print(f"{'kind':14} {'pieces':>6} {'whole':>7}  p5 .. p50 .. p95 of pieces, %")
    every: list[float] = []
    for kind in sorted({piece.kind for piece in pieces}):
        chosen = [(estimate(piece.text), piece.tokens) for piece in pieces if piece.kind == kind]
        whole = sum(about for about, _ in chosen) / sum(exact for _, exact in chosen) - 1
        errors = sorted(about / exact - 1 for about, exact in chosen)
        every += errors
        spread = " .. ".join(f"{percentile(errors, at):+6.1%}" for at in (5, 50, 95))
        print(f"{kind:14} {len(errors):6} {whole:+7.1%}  {spread}")
    sizes = sorted(map(abs, every))
    print(
        "size of error, all pieces:", *(f"p{at} {percentile(sizes, at):.1%}" for at in (50, 90, 99))
    )


def percentile(ordered: list[float], at: int) -> float:
    """The value below which `at` of a hundred lie."""
    return ordered[min(len(ordered) - 1, len(ordered) * at // 100)]


def golden(path: Path, encoding: tiktoken.Encoding) -> None:
    """Fill in the exact count of every sample in a file."""
    samples = json.loads(path.read_text("utf-8"))
    for sample in samples:
        sample["tokens"] = len(encoding.encode_ordinary(sample["text"] * sample["times"]))
    path.write_text(json.dumps(samples, ensure_ascii=False, indent=1) + "\n", "utf-8")


def speed() -> None:
    """Megabytes per second, and microseconds for a short text."""
    english = "Appended entries are never changed; a marker says how they are seen. "
    chinese = "日志只增不改，标记决定如何看待过去的内容。"
    for name, text in (("english", english), ("chinese", chinese)):
        for size in (200, 6000, 1_000_000):
            sample = (
                (text * (size // len(text.encode()) + 1)).encode()[:size].decode("utf-8", "ignore")
            )
            repeat = max(3, 3_000_000 // size)
            best = min(timed(sample, repeat) for _ in range(5))
            print(f"{name} {size:8} B {best * 1e6:9.2f} us {size / best / 1e6:7.0f} MB/s")


def timed(text: str, repeat: int) -> float:
    """Seconds per estimate."""
    start = time.perf_counter()
    for _ in range(repeat):
        estimate(text)
    return (time.perf_counter() - start) / repeat


def main() -> None:
    """Do what the command line says."""
    match sys.argv[1:]:
        case ["fit", file, folder]:
            pieces = read(Path(folder), vocabulary(Path(file)), MOST)
            found = solve([row(piece) for piece in pieces])
            show("WEIGHTS", KINDS, found[:GRID])
            show("SCRIPT_WEIGHTS", SCRIPTS, found[GRID:])
        case ["judge", file, folder]:
            judge(read(Path(folder), vocabulary(Path(file))))
        case ["golden", file, target]:
            golden(Path(target), vocabulary(Path(file)))
        case ["speed"]:
            speed()
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
