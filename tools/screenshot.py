"""Pictures of the terminal for the pages: what tmux shows, as SVG.

    python -m tools.screenshot        # makes docs/pictures/chat.svg and docs/pictures/context.svg

A scripted model answers, so that the same is shown every time; everything else is as it is.
"""

from __future__ import annotations

import io
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


def script(asked: Any) -> Any:
    """A model that mends a small program."""
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
                            TERM="xterm-256color", COLORTERM="truecolor")  # fmt: skip
        try:
            (terminal.work / "double.py").write_text(CODE)
            (terminal.work / "test_double.py").write_text(f"from double import twice\n\n\n{TEST}")
            chat, context = taken(terminal)
        finally:
            terminal.close()
    place = f"{home}/work"
    for name, title, shown in (("chat", "holdfast chat", chat), ("context", "holdfast", context)):
        file = PICTURES / f"{name}.svg"
        file.write_text(picture(shown.replace(place, "~/double"), title), "utf-8")
        sys.stdout.write(f"{file.relative_to(ROOT)}\n")


def taken(terminal: Terminal) -> tuple[str, str]:
    """What the terminal shows of a chat, and of the context afterwards."""
    terminal.run("chat")
    terminal.wait("of the window of")
    terminal.type("test_double.py fails. Find out why, and mend it.")
    terminal.wait("allow edit double.py?")
    terminal.type("y")
    terminal.wait("allow shell python3")
    terminal.type("a")
    terminal.wait("The test passes.")
    terminal.wait("of the window of")
    chat = terminal.screen(colours=True, past=False)
    terminal.press("C-d")
    terminal.wait("holdfast chat -c goes on")
    terminal.run("context", "last")
    terminal.wait("free")
    return chat, terminal.screen(colours=True, past=False)


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
