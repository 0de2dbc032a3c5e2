"""Pictures of the terminal for the pages: what tmux shows, as SVG.

    python -m tools.screenshot   # start, chat, compaction, resume, context, demo in docs/pictures

A scripted model answers, so that the same is shown every time; everything else is as it is.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer
from tools.tmux import ROOT, Terminal

COLUMNS, ROWS = 80, 28
PICTURES = ROOT / "docs" / "pictures"

TEST = "def test_twice():\n    assert twice(2) == 4\n"
CODE = "def twice(n):\n    return n + n + n\n"
FIXED = """\
`twice` added `n` **three** times. Now it adds it twice:

```python
def twice(n):
    return n + n
```

The test passes.
"""


SUMMARY = """\
`test_double.py` failed: `twice` in `double.py` added its argument three times. The user asked to
find out why, and to mend it. `double.py` now says `return n + n`, and `twice(2)` is 4.
"""


def script(asked: Any) -> Any:
    """A model that mends a small program, and that sums up what was said."""
    if not asked.body.get("tools") or "summary" in str(asked.body["messages"][-1])[-4_000:]:
        return answer(SUMMARY)
    done = str(asked.body["messages"]).count("tool_result'")
    steps = (
        answer("Looking at both files first.", Ask("read", {"path": "double.py"}),
               Ask("read", {"path": "test_double.py"})),
        answer(Ask("edit", {"path": "double.py", "old": "n + n + n", "new": "n + n"})),
        answer(Ask("shell", {"command": "python3 -c 'from double import *; print(twice(2))'"})),
        answer(FIXED),
    )  # fmt: skip
    return steps[{0: 0, 2: 1, 3: 2}.get(done, 3)]


def main() -> None:
    """Make the pictures."""
    with tempfile.TemporaryDirectory() as home, StrictServer(script) as server:
        terminal = Terminal(Path(home), server.url("anthropic"), columns=COLUMNS, rows=ROWS,
                            TERM="xterm-256color", COLORTERM="truecolor",
                            PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")  # fmt: skip
        try:
            (terminal.work / "double.py").write_text(CODE)
            (terminal.work / "test_double.py").write_text(f"from double import twice\n\n\n{TEST}")
            shown = taken(terminal)
        finally:
            terminal.close()
    place = f"{home}/work"
    for name, screen in shown.items():
        title = "holdfast" if name == "context" else "holdfast chat"
        keep(name, title, screen.replace(place, "~/double"))
    keep("demo", "holdfast demo", played())
    keep("rewind", "holdfast chat", rewound())


def keep(name: str, title: str, shown: str) -> None:
    """Write a picture of what was shown."""
    file = PICTURES / f"{name}.svg"
    file.write_text(picture(shown, title), "utf-8")
    sys.stdout.write(f"{file.relative_to(ROOT)}\n")


def played() -> str:
    """What the terminal shows of the demo, but for what to try next."""
    with tempfile.TemporaryDirectory() as home:
        terminal = Terminal(Path(home), "", columns=COLUMNS, rows=80, TMPDIR=home,
                            TERM="xterm-256color", COLORTERM="truecolor")  # fmt: skip
        try:
            terminal.run("demo")
            terminal.wait("demo --store demo.db", seconds=90)
            shown = terminal.screen(colours=True, past=False)
        finally:
            terminal.close()
    lines = shown.splitlines()
    next_to_try = next(number for number, line in enumerate(lines) if "demo.db" in line) - 2
    return re.sub(rf"{home}/holdfast-demo-\w+", "~", "\n".join(lines[:next_to_try]))


STEPS = {
    "set the limit": Ask("write", {"path": "limit.py", "content": "LIMIT = 10\n"}),
    "make the data": Ask("shell", {"command": "mkdir data; echo 1 > data/a; echo 80 > port"}),
    "raise the limit": Ask("edit", {"path": "limit.py", "old": "10", "new": "99"}),
}


def step(asked: Any) -> Any:
    """A model that does the step that was asked for last."""
    said = str(asked.body["messages"][-1]["content"])
    found = [one for words, one in STEPS.items() if words in said and "tool_result" not in said]
    return answer(*found) if found else answer("Done.")


def rewound() -> str:
    """Three prompts that changed files, one file edited by hand, and going back to the second."""
    with tempfile.TemporaryDirectory() as home, StrictServer(step) as server:
        terminal = Terminal(Path(home), server.url("anthropic"), columns=COLUMNS, rows=45,
                            TERM="xterm-256color", COLORTERM="truecolor")  # fmt: skip
        try:
            (terminal.work / "port").write_text("8080\n")
            terminal.run("chat", "--allow", "write", "--allow", "edit", "--allow", "shell")
            terminal.wait("of the window of")
            for number, words in enumerate(STEPS, 1):
                terminal.type(words)
                terminal.wait("Done.", times=number)
                terminal.wait("of the window of")
            (terminal.work / "port").write_text("80 by hand\n")
            terminal.type("/rewind")
            for words, typed in (("back to before", "2"), ("which,", "1"), ("keep it so", "k")):
                terminal.wait(words)
                terminal.type(typed)
            terminal.wait("takes that back")
            terminal.wait("of the window of")
            terminal.press("C-u")
            terminal.type("/undo")
            terminal.wait("undone")
            terminal.wait("claude-sonnet-4-6", times=2)  # the line below is drawn again
            shown = terminal.screen(colours=True)
        finally:
            terminal.close()
    lines = shown.splitlines()
    first = max(number for number, line in enumerate(lines) if "/rewind" in line)
    return "\n".join(lines[first:])


def taken(terminal: Terminal) -> dict[str, str]:
    """What the terminal shows: as a chat begins, of a turn, a compaction, and who comes back."""
    shown: dict[str, str] = {}

    def take(name: str) -> None:
        shown[name] = terminal.screen(colours=True, past=False)

    terminal.run("chat")
    terminal.wait("of the window of")
    terminal.letters("/")
    terminal.wait("/tokens")
    take("start")
    terminal.press("C-u")
    terminal.type("test_double.py fails. Find out why, and mend it.")
    terminal.wait("allow edit double.py?")
    terminal.type("y")
    terminal.wait("allow this shell?")
    terminal.type("a")
    terminal.wait("The test passes.")
    terminal.wait("of the window of")
    take("chat")
    _compaction(terminal)
    take("compaction")
    _resume(terminal)
    take("resume")
    terminal.press("C-d")
    terminal.wait("goes on")
    terminal.run("context", "last")
    terminal.wait("free")
    take("context")
    return shown


def _compaction(terminal: Terminal) -> None:
    """Have what was said summed up, and take it back."""
    terminal.type("/policy codex")  # it summarises however little was said
    terminal.wait("managed by codex")
    terminal.wait("of the window of")
    terminal.press("C-l")
    terminal.type("/compact force")
    terminal.wait("in sight")
    terminal.wait("of the window of")
    terminal.type("/undo")
    terminal.wait("undone")
    terminal.wait("of the window of")


def _resume(terminal: Terminal) -> None:
    """Leave, come back, and look at an output again."""
    terminal.press("C-d")
    terminal.wait("goes on")
    terminal.run("chat", "-c")
    terminal.wait("last said")
    terminal.wait("of the window of")
    terminal.type("/show 3")
    terminal.wait("→ edit double.py")
    terminal.wait("of the window of")


def picture(shown: str, title: str) -> str:
    """A screen as SVG, with the reader's own fonts: nothing is fetched."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True,
                      color_system="truecolor")  # fmt: skip
    console.print(Text.from_ansi(shown.rstrip("\n")), end="\n")
    svg = console.export_svg(title=title, unique_id="terminal")
    svg = re.sub(r"\s*@font-face \{.*?\}|\s*<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = svg.replace("<text ", '<text xml:space="preserve" ')  # some readers drop blanks
    return svg.replace("Fira Code", "ui-monospace, Menlo, Consolas")


if __name__ == "__main__":
    main()
