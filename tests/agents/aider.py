"""What Aider is asked to do, and what the scripted model answers it."""

from holdfast.testing import StrictServer
from holdfast.testing.strict import in_order
from tests.agents.harness import NOTES, Place, Played

EDIT = f"""I add a line.

notes.txt
```
<<<<<<< SEARCH
{NOTES}
=======
{NOTES}
On Tuesdays it is open.
>>>>>>> REPLACE
```
"""
QUOTED = """The notes say:

> closed on Mondays

#### And a heading of mine

That is all.
"""
OPTIONS = (
    *("--model", "openai/gpt-4o", "--openai-api-key", "dummy", "--edit-format", "diff"),
    *(
        "--yes-always",
        "--no-stream",
        "--no-git",
        "--no-check-update",
        "--analytics-disable",
        "--no-pretty",
    ),
    *("--analytics-disable", "--no-show-model-warnings", "--no-show-release-notes"),
    "--no-detect-urls",
)
TURNS = ("What do the notes say?", "Say when it is open.\nWrite it down.", "And now?")
AGAIN = "Open on Tuesdays."


def play(place: Place) -> Played:
    """Three runs in one history: a reply with a quote, an edit, more talk."""
    with StrictServer(in_order(QUOTED, EDIT, AGAIN)) as server:
        for turn in TURNS:
            ended = place.run(
                "aider",
                *(*OPTIONS, "--openai-api-base", server.url("openai"), "--message", turn),
                "notes.txt",
                LITELLM_LOCAL_MODEL_COST_MAP="True",
            )
            assert ended.status == 0, ended
    return Played(server, [])
