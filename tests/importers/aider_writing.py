"""Writes histories as Aider does."""

from __future__ import annotations

START = "\n# aider chat started at 2026-01-02 03:04:05\n\n"
BANNER = (
    "> Aider v0.86.1  \n> Main model: claude-sonnet-4-6 with diff edit format  \n"
    "> Git repo: .git with 3 files  \n\n"
)
TOKENS = "> Tokens: 4.2k sent, 310 received. Cost: $0.02 message, $0.02 session.  \n"
EDIT = (
    "Here it is:\n\n#### The change\n\n> As you said.\n\na.py\n```python\n<<<<<<< SEARCH\n"
    "> old  \n#### old  \n=======\nnew\n>>>>>>> REPLACE\n```\n"
)


def asked(text: str) -> str:
    return "\n" + "".join(f"#### {line}  \n" for line in text.split("\n"))


STORY = (
    START
    + BANNER
    + asked("Change it.\n\nAll of it.")
    + f"\n{EDIT}\n\n{TOKENS}> Applied edit to a.py  \n> Commit abc1234 feat: change it  \n"
    + asked("/run make")
    + "> one\ntwo\n\nthree  \n> Add the output to the chat? y  \n"
    + f"\nIt works.\n\n{TOKENS}"
)


CACHED = (
    "> Tokens: 52k sent, 13k cache write, 39k cache hit, 316 received.\n"
    "Cost: $0.06 message, $1.14 session.  \n"
)
"""How a call is shown whose prompt was cached: its cost stands in a line of its own."""
