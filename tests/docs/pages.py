"""The pages of the documentation, and the blocks of code in them.

Rule 1: `python` blocks run. Those that follow one another share one namespace; a console block in
        between, or `<!-- fresh -->` above a block, starts a new one.
Rule 2: in `console` blocks the lines after `$ ` run; in `sh` blocks every line does.
Rule 3: `<!-- not run: reason -->` directly above a block leaves it out. The reason is required.
Rule 4: a `make` line is never run; its targets must exist.
Rule 5: no block stands in a comment, for what an example needs its reader has to see.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RUN = {"python", "console", "sh"}
# Other names for the same languages would slip past the rules unseen.
MISNAMED = {"py", "python3", "pycon", "bash", "shell", "zsh", "terminal", "shell-session"}

FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<language>[\w-]*)")
REMARK = re.compile(r"<!--\s*(?P<word>not run|fresh)\s*(?::\s*(?P<reason>.*?))?\s*-->")


@dataclass(frozen=True)
class Block:
    """One fenced block: where its text begins, what it is in, and what the remark above it says."""

    page: Path
    line: int
    language: str
    text: str
    remark: str = ""
    reason: str = ""

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def runs(self) -> bool:
        return self.language in RUN and self.remark != "not run"


@dataclass(frozen=True)
class Command:
    """One command of a console block, and the lines of output printed below it."""

    line: int
    text: str
    output: tuple[str, ...] = ()

    @property
    def makes(self) -> bool:
        return self.text.split()[:1] == ["make"]

    @property
    def targets(self) -> list[str]:
        """The targets of a make command."""
        words = shlex.split(self.text, comments=True)[1:] if self.makes else []
        return [word for word in words if "=" not in word and not word.startswith("-")]


def pages(root: Path = ROOT) -> list[Path]:
    return [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    lines = page.read_text("utf-8").splitlines()
    found: list[Block] = []
    number = 0
    while number < len(lines):
        if opening := FENCE.match(lines[number]):
            end = closing(lines, number + 1, opening["fence"])
            above = REMARK.fullmatch(lines[number - 1].strip()) if number else None
            found.append(
                Block(
                    page=page,
                    line=number + 2,
                    language=opening["language"],
                    text="\n".join(lines[number + 1 : end]) + "\n",
                    remark=above["word"] if above else "",
                    reason=(above["reason"] or "") if above else "",
                )
            )
            number = end
        number += 1
    return found


def concealed(page: Path) -> list[int]:
    """The lines at which comments begin that hold a block."""
    text = page.read_text("utf-8")
    found = re.finditer(r"<!--(?:(?!-->).)*?^(?:`{3}|~{3})", text, re.DOTALL | re.MULTILINE)
    return [text.count("\n", 0, one.start()) + 1 for one in found]


def closing(lines: list[str], start: int, fence: str) -> int:
    for number in range(start, len(lines)):
        if lines[number].strip() == fence:
            return number
    raise ValueError(f"a block that begins at line {start} is never closed")


def commands(block: Block) -> list[Command]:
    """The commands of a console or sh block."""
    found: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if found and found[-1].text.endswith("\\"):
            last = found.pop()
            found.append(Command(last.line, f"{last.text[:-1]}{line.removeprefix('> ').strip()}"))
        elif block.language == "sh":
            found += [Command(number, line)] if line.strip() and line[0] != "#" else []
        elif line.startswith("$ "):
            found.append(Command(number, line[2:]))
        elif found and line.strip():
            last = found.pop()
            found.append(Command(last.line, last.text, (*last.output, line)))
    return found


def targets(makefile: Path = ROOT / "Makefile") -> set[str]:
    return set(re.findall(r"^([a-z]+):", makefile.read_text("utf-8"), re.MULTILINE))
