"""What Gemini CLI is asked to do, and what the scripted model answers it."""

import json

from holdfast.testing import StrictServer
from holdfast.testing.strict import Answer, Ask, Asked, Think, answer
from tests.agents.harness import NOTES, Place, Played

SETTINGS = {
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "telemetry": {"enabled": False},
}
ROUTED = {"reasoning": "Plain.", "complexity_score": 50, "complexity_reasoning": "Plain."}
"""What it asks a small model first: which model to take."""
STEPS = (
    answer(
        Think("I look."),
        "Reading.",
        Ask("read_file", {"file_path": "notes.txt"}),
        Ask("list_directory", {"dir_path": "."}),
    ),
    answer(Think("There is a picture."), Ask("read_file", {"file_path": "dot.png"})),
    answer(Think("What else?"), Ask("run_shell_command", {"command": "ls", "description": "List"})),
    answer(Think("Done."), NOTES),
)


def play(place: Place) -> Played:
    """One turn with tools."""
    (place.home / ".gemini").mkdir()
    (place.home / ".gemini" / "settings.json").write_text(json.dumps(SETTINGS))
    with StrictServer(_reply) as server:
        ended = place.run(
            "gemini",
            *("-p", "What do the notes say?", "-o", "json", "--approval-mode", "yolo"),
            GEMINI_API_KEY="dummy",
            GOOGLE_GEMINI_BASE_URL=server.url("gemini"),
            GEMINI_CLI_TRUST_WORKSPACE="true",
        )
    assert ended.status == 0, ended
    return Played(server, [json.loads(ended.out)["response"]])


def _reply(asked: Asked) -> Answer | str:
    if "tools" not in asked.body:
        return json.dumps(ROUTED)
    spoken = sum(turn.get("role") == "model" for turn in asked.body["contents"])
    return STEPS[min(spoken, len(STEPS) - 1)]
