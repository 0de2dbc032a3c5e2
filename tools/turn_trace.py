"""Which modules one turn visits: `python -m tools.turn_trace [--list]`.

A turn of a warm session is run under a profiler, and every call into a module of this package is
counted: how many modules, how many functions, and how often a call leads from one module into
another. Module and class bodies are left out, so imports do not count.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import holdfast

PACKAGE = Path(holdfast.__file__).parent
BODIES = ("<module>", "<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>", "<lambda>")
REPLY = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
    "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn",
    "usage": {"input_tokens": 900, "output_tokens": 5},
}  # fmt: skip


class Trace:
    """The calls of one piece of work, by module."""

    def __init__(self) -> None:
        self.modules: Counter[str] = Counter()
        self.functions: set[tuple[str, int]] = set()
        self.hops = 0
        self._last = ""

    def run(self, work: Callable[[], Any]) -> Any:
        """Do the work, and count what it calls."""
        sys.setprofile(self._called)
        try:
            return work()
        finally:
            sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(PACKAGE)):
            return
        if code.co_name in BODIES or not code.co_flags & inspect.CO_NEWLOCALS:
            return
        module = Path(code.co_filename).relative_to(PACKAGE).with_suffix("").as_posix()
        self.modules[module] += 1
        self.functions.add((module, code.co_firstlineno))
        self.hops += module != self._last
        self._last = module

    def of(self, *packages: str) -> int:
        """How many modules of some packages were visited."""
        return sum(module.partition("/")[0] in packages for module in self.modules)


def traces(path: Path) -> dict[str, Trace]:
    """A window without compaction, and a whole turn, each of a warm session."""
    found = {"window": Trace(), "turn": Trace()}
    with holdfast.open(path) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        for _ in range(2):  # what is loaded once is loaded before the work is traced
            _turn(s)
        s.user("And what now?")
        found["window"].run(s.window)
        found["turn"].run(lambda: _turn(s))
    return found


def _turn(s: Any) -> None:
    s.user("Fix the login handler")
    s.window(system="You are a careful engineer.").request("anthropic")
    s.reply(REPLY)


def main(arguments: list[str]) -> None:
    """Print a row for each trace; with --list its modules too."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = traces(Path(folder) / "log.db")
    print(f"{'trace':8} {'core+engine':>12} {'all':>5} {'functions':>10} {'hops':>6}")
    for name, trace in found.items():
        inner, every = trace.of("core", "engine"), len(trace.modules)
        print(f"{name:8} {inner:12} {every:5} {len(trace.functions):10} {trace.hops:6}")
        if "--list" in arguments:
            print("  " + "\n  ".join(sorted(trace.modules)))


if __name__ == "__main__":
    main(sys.argv[1:])
