"""What Claude Code is asked to do, and what the scripted model answers it."""

import json
from typing import Any

from holdfast.testing import StrictServer
from holdfast.testing.strict import Answer, Ask, Asked, Think, answer
from tests.agents.harness import NOTES, Place, Played

ERRAND = "An errand: say that you are done."
SUMMARY = "We read the notes together."
AGAIN = "Still closed."
SAID = [NOTES, AGAIN, "", AGAIN]
TURNS = (
    ("-p", "What do the notes say?"),
    ("-p", "And now?", "--continue"),
    ("-p", "/compact", "--continue"),
    ("-p", "And after that?", "--continue"),
    ("-p", "/context", "--continue"),
)
SETTINGS = {
    "ANTHROPIC_API_KEY": "dummy",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
}


def play(place: Place, model: str = "") -> Played:
    """Five turns in one session: tools, more talk, a compaction, more talk, a count."""
    with StrictServer(lambda asked: _reply(asked, place)) as server:
        said = [_turn(place, server, model, *turn) for turn in TURNS]
    return Played(server, said)


def _turn(place: Place, server: StrictServer, model: str, *arguments: str) -> str:
    ended = place.run(
        "claude",
        *arguments,
        *(["--model", model] if model else []),
        *("--output-format", "json", "--permission-mode", "acceptEdits"),
        *("--allowedTools", "Read,Bash,Agent,ToolSearch"),
        ANTHROPIC_BASE_URL=server.url("anthropic"),
        CLAUDE_CONFIG_DIR=str(place.home / ".claude"),
        **SETTINGS,
    )
    assert ended.status == 0, ended
    told = json.loads(ended.out)
    assert not told["is_error"], told
    return told["result"]


def _reply(asked: Asked, place: Place) -> Answer | str:
    messages = asked.body["messages"]
    if ERRAND in json.dumps(messages[0]):
        return answer(Think("Easy."), "Done.")
    if "tools" not in asked.body:
        return "A title."
    spoken = sum(message["role"] == "assistant" for message in messages)
    steps = _steps(place)
    if spoken < len(steps) and any("What do the notes say?" in text for text in _texts(messages)):
        return steps[spoken]
    return f"<summary>{SUMMARY}</summary>" if "<summary>" in _texts(messages)[-1] else AGAIN


def _steps(place: Place) -> list[Answer]:
    """Calls at once and one by one, a picture, a failure, a search for tools, an errand."""
    errand = {"description": "An errand", "prompt": ERRAND, "subagent_type": "general-purpose"}
    return [
        answer(
            Think("I look."),
            "Reading.",
            Ask("Read", {"file_path": str(place.work / "notes.txt")}),
            Ask("Bash", {"command": "ls", "description": "List files"}),
        ),
        answer(
            Think("There is a picture."),
            Ask("Read", {"file_path": str(place.work / "dot.png")}),
            Ask("Bash", {"command": "ls missing", "description": "List what is not there"}),
        ),
        answer(
            Think(redacted=True), Ask("ToolSearch", {"query": "select:WebFetch", "max_results": 5})
        ),
        answer(Think("Somebody else."), Ask("Agent", errand | {"run_in_background": False})),
        answer(Think("Done."), NOTES),
    ]


def _texts(messages: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for message in messages:
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"text": content}]
        found += [block["text"] for block in blocks if "text" in block]
    return found
