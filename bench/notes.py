"""How long it takes to recall notes by words: `python -m bench.notes [--notes 10000]`.

Time is that of the processor, so that what else runs on the machine is not counted.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from pathlib import Path

import click

import holdfast
from holdfast.core.knowledge.notes import write_note
from holdfast.model.note import Note

BEGIN = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "ri",
    "so",
    "tu",
    "va",
    "we",
    "xi",
    "yo",
    "zu",
]
END = [
    "st",
    "rk",
    "ll",
    "mp",
    "nt",
    "sh",
    "ck",
    "rd",
    "ft",
    "gn",
    "lm",
    "pr",
    "ss",
    "tt",
    "vy",
    "wn",
    "zz",
    "ff",
    "gg",
    "bb",
]
WORDS = [f"{a}{b}{c}" for a in BEGIN for b in END for c in ("", "er", "ing", "o", "is")]
"""2,000 words, the first of them much more often said than the last, as in any language."""

WEIGHTS = [1 / (n + 3) for n in range(len(WORDS))]


def fill(place: Path, many: int, seed: int) -> None:
    """So many notes of thirty words each."""
    chance = random.Random(seed)
    place.mkdir(parents=True)
    for n in range(many):
        words = chance.choices(WORDS, WEIGHTS, k=30)
        note = Note(name=" ".join(words[:3]), description=" ".join(words[3:11]), type="project",
                    body=" ".join(words), file=f"project_{n:06}.md")  # fmt: skip
        (place / note.file).write_text(write_note(note))


def measured(many: int, questions: int, seed: int) -> tuple[float, list[float]]:
    """Seconds to read all notes for the first time, and each question's milliseconds."""
    chance = random.Random(seed)
    with holdfast.open("memory:") as hf:
        memory = hf.memory("/bench/project")
        place = Path(memory.place)
        fill(place, many, seed)
        begun = time.thread_time()
        memory.recall("warm up the ranking")
        first = time.thread_time() - begun
        took: list[float] = []
        for _ in range(questions):
            asked = (
                "how does " + " ".join(chance.choices(WORDS, WEIGHTS, k=6)) + " work in staging?"
            )
            begun = time.thread_time()
            memory.recall(asked)
            took.append((time.thread_time() - begun) * 1000)
    return first, took


@click.command()
@click.option("--notes", "many", default=10_000, show_default=True)
@click.option("--questions", default=200, show_default=True)
@click.option("--seed", default=7, show_default=True)
def main(many: int, questions: int, seed: int) -> None:
    """Recall over many notes, without vectors."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = folder
        first, took = measured(many, questions, seed)
    took.sort()
    p95 = took[int(len(took) * 0.95)]
    click.echo(
        f"{many:,} notes: first read {first:.2f} s; recall median {statistics.median(took):.1f} ms,"
        f" p95 {p95:.1f} ms, slowest {took[-1]:.1f} ms"
    )


if __name__ == "__main__":
    main()
