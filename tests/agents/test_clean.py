"""What is captured keeps its shape and nothing of the program's prose or of this machine."""

from pathlib import Path
from typing import Any

from holdfast.testing.strict import Asked
from tests.agents.clean import Cleaner
from tests.agents.harness import Place

ID = "01a1df0f-40ad-7a20-bc94-109c55ea2274"


def cleaned(body: dict[str, Any], place: Place) -> dict[str, Any]:
    headers = {"user-agent": "agent/1.0 (somewhere)", "authorization": "Bearer secret"}
    asked = Asked(
        format="anthropic", endpoint="create", model="m", stream=True, body=body, headers=headers
    )
    return Cleaner(place, {"Ours to keep."}).request(asked)


def test_prose_paths_ids_and_headers_are_left_out_and_the_shape_stays(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path / "work")
    told = cleaned(
        {
            "system": "You are an agent, and so on.",
            "session": ID,
            "input": [
                {"type": "text", "text": "<reminder>Long talk.</reminder>", "again": f"{ID}:0"},
                {"type": "text", "text": "Ours to keep.", "cache_control": {"type": "ephemeral"}},
                {"type": "call", "path": f"{place.work}/a.py", "started_ms": 5, "most": 5},
            ],
            "about": f'{{"session": "{ID}", "words": "and so on"}}',
        },
        place,
    )
    assert told["headers"] == {"user-agent": "agent/1.0"}
    new = "00000000-0000-7000-8000-000000000001"
    assert told["body"] == {
        "system": "(left out)",
        "session": new,
        "input": [
            {"type": "text", "text": "<reminder>(left out)</reminder>", "again": f"{new}:0"},
            {"type": "text", "text": "Ours to keep.", "cache_control": {"type": "ephemeral"}},
            {"type": "call", "path": "/work/a.py", "started_ms": 0, "most": 5},
        ],
        "about": f'{{"session": "{new}", "words": "(left out)"}}',
    }


def test_of_many_tools_the_first_and_the_special_ones_stay(tmp_path: Path) -> None:
    tools = [{"name": f"tool{n}"} for n in range(6)]
    tools[4]["defer_loading"] = "yes"
    told = cleaned({"tools": tools}, Place(tmp_path, tmp_path / "work"))
    assert [tool["name"] for tool in told["body"]["tools"]] == ["tool0", "tool1", "tool2", "tool4"]
