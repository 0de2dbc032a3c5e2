"""The conversation as a file of Markdown in Aider's format, appended to as it goes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from holdfast.files import private_file


class MarkdownLog:
    """One file: a heading for each run, what the user said behind `####`, and the replies."""

    def __init__(self, file: str) -> None:
        self._file = Path(file)
        self._begun = False

    def user(self, text: str) -> None:
        """Append what the user said."""
        lines = text.splitlines() or [""]
        self._append("\n" + "".join(f"#### {line}  \n" for line in lines) + "\n")

    def reply(self, text: str) -> None:
        """Append what the model answered."""
        if text.strip():
            self._append(f"{text.rstrip()}\n")

    def _append(self, text: str) -> None:
        head = "" if self._begun else self._heading()
        with private_file(self._file).open("a", encoding="utf-8", errors="replace") as file:
            file.write(head + text)
        self._begun = True

    @staticmethod
    def _heading() -> str:
        return f"\n# aider chat started at {datetime.now().astimezone():%Y-%m-%d %H:%M:%S}\n\n"
