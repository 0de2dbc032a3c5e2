"""What OpenCode is asked to do, and what the scripted model answers it."""

import json

from holdfast.testing import StrictServer
from holdfast.testing.strict import Answer, Ask, Asked, Think, answer
from tests.agents.harness import NOTES, Ended, Place, Played

AGAIN = "Still closed."
ERRAND = "An errand: say that you are done."
SUMMARY = "We read the notes together."
MODEL = "anthropic/claude-opus-4-6"
SETTINGS = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "ANTHROPIC_API_KEY": "dummy",
}


def play(place: Place) -> Played:
    """Two turns in one session: tools, a picture, a failure, an errand, then more talk."""
    with StrictServer(lambda asked: _reply(asked, place)) as server:
        options = {"baseURL": f"{server.url('anthropic')}/v1"}
        settings = {
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": False,
            "share": "disabled",
            "permission": "allow",
            "provider": {"anthropic": {"options": options}},
        }
        home = place.home / ".config" / "opencode"
        home.mkdir(parents=True)
        (home / "opencode.json").write_text(json.dumps(settings))
        said = [
            _said(_run(place, "What do the notes say?")),
            _said(_run(place, "And now?", "--continue")),
        ]
    return Played(server, said)


def _run(place: Place, *arguments: str) -> Ended:
    return place.run(
        "opencode", "run", "--format", "json", "--model", MODEL, *arguments, **SETTINGS
    )


def _said(ended: Ended) -> str:
    assert ended.status == 0, ended
    events = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
    return [event["part"]["text"] for event in events if event["type"] == "text"][-1]


def _reply(asked: Asked, place: Place) -> Answer | str:
    messages = asked.body["messages"]
    if ERRAND in json.dumps(messages[0]):
        return answer(Think("Easy."), "Done.")
    if not asked.body.get("tools"):
        return "A title."
    spoken = sum(message["role"] == "assistant" for message in messages)
    steps = _steps(place)
    return steps[spoken] if spoken < len(steps) else AGAIN


def _steps(place: Place) -> list[Answer]:
    errand = {"description": "An errand", "prompt": ERRAND, "subagent_type": "general"}
    return [
        answer(
            Think("I look."),
            "Reading.",
            Ask("read", {"filePath": str(place.work / "notes.txt")}),
            Ask("bash", {"command": "ls", "description": "List files"}),
        ),
        answer(
            Think("There is a picture."),
            Ask("read", {"filePath": str(place.work / "dot.png")}),
            Ask("read", {"filePath": str(place.work / "missing.txt")}),
        ),
        answer(Think("Somebody else."), Ask("task", errand)),
        answer(Think("Done."), NOTES),
    ]
