"""Which mutants a run tries: a fair share of each package, the same for the same seed and tree."""

from __future__ import annotations

import random
from collections import defaultdict

from tests.mutants.operators import Mutant, differs, mutants

PACKAGES = ("core", "engine", "stores", "codecs", "agent", "importers")


def sample(
    sources: dict[str, bytes], seed: int, count: int, packages: tuple[str, ...] = PACKAGES
) -> list[Mutant]:
    """`count` mutants, as many from one package as from the other, packages taking turns."""
    shares = [count // len(packages) + (n < count % len(packages)) for n in range(len(packages))]
    chosen = [
        _of(package, sources, random.Random(f"{seed}:{package}"), share)
        for package, share in zip(packages, shares, strict=True)
    ]
    turns = [(nth, one) for share in chosen for nth, one in enumerate(share)]
    return [one for _, one in sorted(turns, key=lambda turn: turn[0])]


def _of(package: str, sources: dict[str, bytes], chance: random.Random, share: int) -> list[Mutant]:
    """Lines are drawn evenly, then one of the operators that fit, then one of its mutants."""
    lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for path, source in sources.items():
        if path.startswith(f"src/holdfast/{package}"):
            for mutant in mutants(path, source):
                lines[path, mutant.line].append(mutant)
    order = list(lines)
    chance.shuffle(order)
    found: list[Mutant] = []
    for line in order:
        if len(found) == share:
            break
        operator = chance.choice(sorted({one.operator for one in lines[line]}))
        one = chance.choice([one for one in lines[line] if one.operator == operator])
        if differs(one, sources[one.path]):
            found.append(one)
    return found
