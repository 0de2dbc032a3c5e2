"""The table of what can be typed is the one that /help shows."""

from pathlib import Path

from holdfast.cli.chat.slash import BESIDES, SLASH

PAGE = Path(__file__).parents[2] / "docs" / "agent.md"


def test_the_page_of_the_agent_lists_every_command() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    told = {row[0].strip("| `"): row[1].strip(" |") for row in rows}
    for name, one in SLASH.items():
        assert told[f"/{name}"] == one.about
    for typed, about in BESIDES.items():
        assert told[typed] == about
