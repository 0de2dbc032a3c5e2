"""Six kinds of text that agents see, the same on every machine that has the same Python.

Prose and code are Python's own documentation and standard library. Terminal output and JSON are
made of its files: listings, searches, records. Chinese is our own text with its sentences shuffled,
base64 is random bytes from a seed.
"""

from __future__ import annotations

import json
import random
import sysconfig
from base64 import b64encode
from functools import cache
from pathlib import Path

SIZE = 400_000
"""How many characters of each kind there are."""

SHOWN = "/usr/lib/python3"
"""Where the files are said to be."""

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "estimate.json"


@cache
def text(kind: str) -> str:
    """The text of one kind."""
    return KINDS[kind]()[:SIZE]


def pieces(kind: str, length: int = 4_000) -> list[str]:
    """The same as messages of one length."""
    whole = text(kind)
    return [whole[start : start + length] for start in range(0, len(whole) - length, length)]


def _prose() -> str:
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


def _files() -> list[Path]:
    return sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))


def _code() -> str:
    return "\n".join(path.read_text("utf-8", "replace") for path in _files())[200_000:]


def _terminal() -> str:
    source, lines, length = random.Random("terminal"), [], 0
    files = _files()
    while length < SIZE:
        path = source.choice(files)
        code = path.read_text("utf-8", "replace").splitlines() or [""]
        if source.random() < 0.5:
            size = path.stat().st_size
            at = f"Nov 15 10:{source.randrange(60):02}"
            lines.append(f"-rw-r--r-- 1 root root {size:7} {at} {SHOWN}/{path.name}")
        else:
            number = source.randrange(len(code))
            lines.append(f"{SHOWN}/{path.name}:{number + 1}:{code[number]}")
        length += len(lines[-1]) + 1
    return "\n".join(lines)


def _json() -> str:
    source, records, length = random.Random("json"), [], 0
    names = [path.stem for path in _files()]
    while length < SIZE:
        record = {
            "id": f"{source.getrandbits(64):016x}",
            "name": source.choice(names),
            "tags": source.sample(names, 2),
            "ok": source.random() < 0.5,
            "ms": round(source.random() * 1000, 3),
            "at": f"2026-11-{source.randrange(1, 29):02}T{source.randrange(24):02}:00:00Z",
        }
        indent = 2 if source.random() < 0.5 else None
        records.append(json.dumps(record, indent=indent))
        length += len(records[-1]) + 1
    return "\n".join(records)


def _chinese() -> str:
    source = random.Random("chinese")
    golden = json.loads(GOLDEN.read_text("utf-8"))
    own = next(sample["text"] for sample in golden if sample["kind"] == "chinese")
    sentences = [line.strip() + "。" for line in own.replace("\n", "").split("。") if line.strip()]
    return "".join(source.choice(sentences) for _ in range(SIZE // 10))


def _base64() -> str:
    return b64encode(random.Random("base64").randbytes(SIZE)).decode()


KINDS = {
    "prose": _prose,
    "code": _code,
    "json": _json,
    "terminal": _terminal,
    "chinese": _chinese,
    "base64": _base64,
}
