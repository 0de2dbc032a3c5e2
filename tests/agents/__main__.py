"""Capture again what the real agents send: python -m tests.agents, behind `make agents`."""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.agents import claude_code, codex, gemini_cli
from tests.agents.clean import Cleaner
from tests.agents.harness import NOTES, ROOT, Place, Played

CAPTURED = ROOT / "tests" / "golden" / "captured"
OURS = {
    *("What do the notes say?", "And now?", "And after that?", "Reading.", "Done.", NOTES),
    *(claude_code.AGAIN, claude_code.ERRAND, codex.SUMMARY, codex.PATCH, str(codex.READ.input)),
    *("List files", "List what is not there", "ls missing", "An errand", f"{NOTES}\n"),
}
"""Words that are ours, and stay."""

SESSIONS: dict[str, tuple[Callable[[Place], Played], dict[int, str]]] = {
    "claude-code": (
        claude_code.play,
        {0: "first", 4: "errand", 5: "tools", 7: "compacting", -2: "compacted", -1: "count"},
    ),
    "claude-code/sonnet-4-5": (
        lambda place: claude_code.play(place, "claude-sonnet-4-5"),
        {5: "thinking-by-tokens"},
    ),
    "claude-code/opus-4-6": (
        lambda place: claude_code.play(place, "claude-opus-4-6"),
        {5: "adaptive-thinking"},
    ),
    "codex": (codex.play, {0: "first", 3: "tools", 4: "resumed"}),
    "codex/unknown": (lambda place: codex.play(place, "strict-model"), {2: "plain-tools"}),
    "codex/openai": (
        lambda place: codex.compacting(place, "OpenAI"),
        {2: "compacting", 3: "compacted", 4: "resumed-compacted"},
    ),
    "gemini-cli": (gemini_cli.play, {0: "routing", 4: "tools"}),
}


def capture(session: str) -> None:
    """Run one session, and write the requests that it is kept for."""
    play, wanted = SESSIONS[session]
    with tempfile.TemporaryDirectory() as folder:
        place = Place.at(Path(folder))
        played = play(place)
        cleaner = Cleaner(place, OURS)
        asked = [*played.made, *(one for one in played.server.asked if one.endpoint == "count")]
        last = len(played.made)
        for index, name in wanted.items():
            which = asked[index if index >= 0 else last + 1 + index]
            file = CAPTURED / session.split("/")[0] / f"{name}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(cleaner.request(which), indent=1, ensure_ascii=False)
            file.write_text(f"{text}\n")
            print(file.relative_to(ROOT), len(text))


if __name__ == "__main__":
    shutil.rmtree(CAPTURED, ignore_errors=True)
    for name in SESSIONS:
        capture(name)
