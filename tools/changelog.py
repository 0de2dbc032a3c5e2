"""Gather the fragments of changelog.d into one release of CHANGELOG.md, and remove them.

A fragment is `changelog.d/<slug>.<kind>.md`: one or two sentences for whoever uses Holdfast.
"""

import re
import sys
from datetime import UTC, date, datetime
from pathlib import Path

KINDS = ("added", "changed", "fixed", "removed", "security")
FRAGMENT = re.compile(rf"[a-z0-9][a-z0-9-]*\.({'|'.join(KINDS)})\.md")
VERSION = re.compile(r"\d+\.\d+\.\d+\S*")
NEWEST = "<!-- the newest release goes below this line -->\n"


def fragments(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if not path.name.startswith("."))


def problems(folder: Path) -> list[str]:
    """What is wrong with the fragments, one line each."""
    found: list[str] = []
    for path in fragments(folder):
        if not FRAGMENT.fullmatch(path.name):
            found.append(f"{path.name}: name it <slug>.<kind>.md, kind one of {', '.join(KINDS)}")
        elif not path.read_text("utf-8").strip():
            found.append(f"{path.name}: is empty")
    return found


def release(version: str, day: date, folder: Path) -> str:
    """The text of one release, kinds in their fixed order."""
    lines = [f"\n## {version} · {day.isoformat()}\n"]
    for kind in KINDS:
        texts = [path.read_text("utf-8") for path in fragments(folder) if f".{kind}." in path.name]
        if texts:
            lines.append(f"\n### {kind.capitalize()}\n\n")
            lines += [f"- {' '.join(text.split())}\n" for text in texts]
    return "".join(lines)


def gather(root: Path, version: str, day: date) -> None:
    folder, changelog = root / "changelog.d", root / "CHANGELOG.md"
    before, line, after = changelog.read_text("utf-8").partition(NEWEST)
    if not line:
        raise SystemExit(f"CHANGELOG.md has lost its line: {NEWEST.strip()}")
    changelog.write_text(before + line + release(version, day, folder) + after, "utf-8")
    for path in fragments(folder):
        path.unlink()


def main(arguments: list[str]) -> None:
    root = Path(__file__).resolve().parents[1]
    if len(arguments) != 1 or not VERSION.fullmatch(arguments[0]):
        raise SystemExit("say which version: make changelog VERSION=0.2.0")
    if found := problems(root / "changelog.d"):
        raise SystemExit("\n".join(found))
    gather(root, arguments[0], datetime.now(UTC).date())


if __name__ == "__main__":
    main(sys.argv[1:])
