"""How long it takes to recall notes by words: `python -m bench.notes [--notes 10000]`."""

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

WORDS = [f"{a}{b}" for a in ("de", "ka", "mi", "ro", "sta", "ve", "lu") for b in (
    "ploy", "strel", "gration", "uter", "ging", "ndor", "mber", "tch", "ssion", "nner", "cket",
    "llet", "rvice", "ker", "ning", "ble", "port", "gine", "ster", "dule",
)]  # fmt: skip


def fill(place: Path, many: int, seed: int) -> None:
    """So many notes of thirty words each."""
    chance = random.Random(seed)
    place.mkdir(parents=True)
    for n in range(many):
        words = chance.choices(WORDS, k=30)
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
        begun = time.perf_counter()
        memory.recall("warm up the ranking")
        first = time.perf_counter() - begun
        took: list[float] = []
        for _ in range(questions):
            asked = "how does " + " ".join(chance.choices(WORDS, k=6)) + " work in staging?"
            begun = time.perf_counter()
            memory.recall(asked)
            took.append((time.perf_counter() - begun) * 1000)
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
