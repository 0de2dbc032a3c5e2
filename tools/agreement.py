"""Asks every command, the library and the chat how full ten recorded sessions are, and writes down
what each says, in docs/agreement.md.

    python -m tools.agreement           writes the table anew
    python -m tools.agreement --check   says whether it is as it would be written

The sessions are among the recorded data beside the checkout, which is only read.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner

import holdfast
from holdfast.cli import main
from holdfast.engine.client import Session
from tools.tmux import Terminal

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "transcripts"
PAGE = ROOT / "docs" / "agreement.md"
BEGIN, END = "<!-- made by tools/agreement.py -->\n", "<!-- until here -->\n"

FILES = (
    "claude/oh-my-posh/10-906611becd-0.jsonl",
    "claude/cipher-box/c6-44f3afc869-1.jsonl",
    "codex/mise/ce-f8e0d67edb-0.jsonl",
    "codex/session-bridge/27-787ded68f8-0.jsonl",
    "gemini/session-bridge/c6-6a5f5ed92d-0.json",
    "gemini/cli/ab-2b9748b105-0.json",
    "opencode/bestcodes.dev/55-d262fed8cf-0.json",
    "opencode/session-bridge/13-dddd416599-0.json",
    "aider/aider-swe-bench/astropy__astropy-14182.md",
    "aider/rpgxp/aider.chat.history.md",
)
"""Two sessions of each of five agents; of a file that holds several, the longest."""

COLUMNS = (
    "session", "would be sent", "places that say so", "window", "was sent last",
    "besides the messages", "cost", "one of each",
)  # fmt: skip
PLACES = (
    "`context`", "`explain`", "`show`", "`status-line`", "`compact`", "`undo`", "`explain_now()`",
    "`snapshot()`", "`status()`", "chat: `/context`", "chat: a compaction",
    "chat: `/undo`",
)  # fmt: skip
KEYS = dict.fromkeys(("OPENAI_API_KEY", "GEMINI_API_KEY", "DEEPSEEK_API_KEY"), "sk-not-a-key")


def told(store: str, *words: str) -> str:
    """What a command says."""
    env = {"COLUMNS": "200", "NO_COLOR": "1", "HOLDFAST_STORE": store}
    done = CliRunner().invoke(main, list(words), env=env, prog_name="holdfast")
    if done.exit_code:
        raise SystemExit(f"holdfast {' '.join(words)}: {done.stderr}")
    return done.stdout


def value(store: str, *words: str) -> Any:
    """What a command says with --json."""
    return json.loads(told(store, *words, "--json").splitlines()[0])


def amount(pattern: str, text: str) -> int | None:
    """A number of tokens that stands at a place in a text; None where it is not there."""
    found = re.search(pattern, text)
    return int(found[1].replace(",", "")) if found else None


class Asked:
    """One session, and what every place says of it."""

    def __init__(self, file: str, store: str, session: Session) -> None:
        self.file, self._store, self._id = file, store, session.id
        now, shot, state = session.explain_now(), session.snapshot(), session.status()
        self.model, self.window, self.source = now.model, now.window, now.source
        self.sent, self.program, self.beside = now.sent, now.program, now.beside
        self.unpriced, self.cost = shot.unpriced_calls, shot.session_cost_usd
        self.says: dict[str, int | None] = {
            "`explain_now()`": now.tokens,
            "`snapshot()`": shot.used_tokens,
            "`status()`": state["context_window"]["used_tokens"],
        }
        self.windows = {
            now.window, shot.context_window_size, state["context_window"]["context_window_size"],
        }  # fmt: skip
        self.sends = {now.sent, shot.sent_tokens, state["context_window"]["sent_tokens"] or 0}
        self.costs = {round(self.cost, 4), round(state["cost"]["total_cost_usd"], 4)}

    def commands(self) -> None:
        """What the commands say, in the words that people read."""
        head = r"([\d,]+) (?:of [\d,]+ tokens|tokens of)"
        ask = lambda *words: told(self._store, words[0], self._id, *words[1:])  # noqa: E731
        self.says["`context`"] = amount(head, ask("context"))
        self.says["`explain`"] = amount(head, ask("explain"))
        self.says["`show`"] = amount(rf"would be sent: {head}", ask("show"))
        state = value(self._store, "status-line", self._id)["context_window"]
        self.says["`status-line`"] = state["used_tokens"]
        self.says["`compact`"] = amount(r"about ([\d,]+) → ", ask("compact", "--preview"))
        ask("compact", "--yes")
        self.says["`undo`"] = amount(r"What would be sent: .*? → ([\d,]+)", ask("undo"))
        told_of = value(self._store, "context", self._id)
        self.windows |= {told_of["window"] or 0, state["context_window_size"]}
        self.sends |= {told_of["sent"] or 0, state["sent_tokens"] or 0}
        paid = (
            value(self._store, "cost", "--session", self._id, "--by", "session")
            if self.sent
            else {}
        )
        self.costs |= {round(paid.get("cost_usd") or 0.0, 4)}

    def chat(self, terminal: Terminal) -> None:
        """What the chat says, once it goes on with it."""
        terminal.type(f"/resume {self._id}")
        terminal.wait(f"going on with {self._id}")
        many = terminal.screen().count("would be sent ")
        terminal.type("/context")
        screen = terminal.wait("would be sent ", many + 1)
        self.says["chat: `/context`"] = amount(
            r"would be sent +([\d,]+)", screen[screen.rindex("would be sent ") :]
        )
        for word, sign in (("/compact force", "compacted: "), ("/undo", "undone; ")):
            many = terminal.screen().count(sign)
            terminal.type(word)
            screen = terminal.wait(sign, many + 1)
        line = " ".join(screen[screen.rindex("compacted: ") :].split())
        self.says["chat: a compaction"] = amount(r"; ([\d,]+) → ", line)
        line = " ".join(screen[screen.rindex("undone; ") :].split())
        self.says["chat: `/undo`"] = amount(r"→ ([\d,]+) tokens", line)

    def row(self) -> str:
        """The session as a row of the table."""
        tokens = self.says["`context`"]
        same = [place for place in PLACES if self.says.get(place) == tokens]
        others = [f"{place} {self.says.get(place)}" for place in PLACES if place not in same]
        one = len(self.windows) == len(self.sends) == len(self.costs) == 1
        window = f"{self.window:,} ({self.source})" if self.window else "unknown"
        return " | ".join((
            f"| `{self.file}`",
            f"{tokens:,}",
            f"all {len(same)}" if not others else f"{len(same)}; other: {', '.join(others)}",
            window,
            f"{self.sent:,}" if self.sent else "unknown",
            f"{self.beside:,}" if self.beside is not None else "unknown",
            paid(self.cost, self.unpriced) if self.sent else "unknown",
            "yes |" if one else f"no: {self.windows} {self.sends} {self.costs} |",
        ))  # fmt: skip


def paid(cost: float, unpriced: int) -> str:
    """What it cost, as far as prices are known."""
    if unpriced and not cost:
        return "unknown"
    return f"${cost:.4f}" + ("*" if unpriced else "")


def sessions(hf: holdfast.Holdfast) -> Iterator[tuple[str, Session]]:
    """The ten sessions, imported."""
    for file in FILES:
        before = {one.id for one in hf.every_session()}
        list(hf.import_from(DATA / file))
        fresh = [one for one in hf.every_session() if one.id not in before]
        yield file, hf.session(max(fresh, key=lambda one: one.head).id)


@contextmanager
def chatting(home: Path) -> Iterator[Terminal]:
    """A chat that asks nobody anything."""
    terminal = Terminal(home, "http://127.0.0.1:9", columns=140, rows=200, **KEYS)
    try:
        terminal.run("chat", "-m", "claude-sonnet-4-6")
        terminal.wait("of the window of")
        yield terminal
    finally:
        terminal.close()


def table() -> str:
    """The table, found out now."""
    with TemporaryDirectory() as place:
        home = Path(place)
        store = str(home / "log.db")
        with holdfast.open(store) as hf:
            found = [Asked(file, store, session) for file, session in sessions(hf)]
        for one in found:
            one.commands()
        with chatting(home) as terminal:
            for one in found:
                one.chat(terminal)
    rows = "\n".join(one.row() for one in found)
    return f"""{BEGIN}
{len(PLACES)} places say how many tokens would be sent: {", ".join(PLACES)}.

| {" | ".join(COLUMNS)} |
|{"---|" * len(COLUMNS)}
{rows}

{END}"""


def page() -> str:
    """The page with the table as it is now."""
    text = PAGE.read_text("utf-8")
    begin, end = text.index(BEGIN), text.index(END) + len(END)
    return text[:begin] + table() + text[end:]


def run(words: list[str]) -> int:
    """Write the table, or say whether it is as it would be written."""
    made = page()
    if "--check" in words:
        return int(made != PAGE.read_text("utf-8"))
    PAGE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
