"""What Codex is asked to do, and what the scripted model answers it."""

import json

from holdfast.model.reply import Usage
from holdfast.testing import StrictServer
from holdfast.testing.strict import Answer, Ask, Think, answer, in_order
from tests.agents.harness import NOTES, Ended, Place, Played

AGAIN = "Still closed."
SUMMARY = "We read the notes together."
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\n"
FULL = Usage(input=90_000, output=10)
"""More than the conversation may hold in `compacting`."""

READ = Ask("exec", 'text(await tools.exec_command({cmd: "cat notes.txt"}));')
LIST = Ask("exec_command", {"cmd": "ls"})
LOOKED = answer(Think("I look."), "Reading.", READ)
LISTED = answer(Think("What else?"), LIST)
ENDED = answer(Think("Done."), NOTES)
ANSWERED = answer(Think("Again."), AGAIN)


def play(place: Place, model: str = "", provider: str = "Strict", sockets: bool = False) -> Played:
    """Two turns in one session: commands and a patch, then more talk."""
    patched = answer(Think("I write."), Ask("apply_patch", PATCH))
    script = [LOOKED, LISTED, patched, ENDED, ANSWERED]
    if model:  # A model that it does not know gets tools of the plain kind.
        script = [answer(Think("I look."), "Reading.", LIST), LISTED, ENDED, ANSWERED]
    return _played(place, script, _settings(model, provider, sockets))


def compacting(place: Place, provider: str = "Strict") -> Played:
    """The same in a small window: between its turns the conversation is compacted.

    Compaction is the server's work for a provider of the name OpenAI, and else Codex's own.
    """
    full = answer(Think("What else?"), LIST, usage=FULL)
    script = [LOOKED, full, SUMMARY, ENDED, ANSWERED]
    limit = "model_auto_compact_token_limit = 60000\n"
    return _played(place, script, limit + _settings("", provider, False))


def _played(place: Place, script: list[Answer | str] | list[Answer], settings: str) -> Played:
    with StrictServer(in_order(*script)) as server:
        home = place.home / ".codex"
        home.mkdir()
        (home / "config.toml").write_text(settings.replace("SERVER", server.url("openai")))
        picture = ("-s", "workspace-write", "-i", str(place.work / "dot.png"), "--")
        said = [
            _said(_run(place, *picture, "What do the notes say?")),
            _said(_run(place, "And now?", resume=True)),
        ]
    return Played(server, said)


def _run(place: Place, *arguments: str, resume: bool = False) -> Ended:
    return place.run(
        "codex",
        "exec",
        *(["resume", "--last"] if resume else []),
        "--json",
        "--skip-git-repo-check",
        *arguments,
        CODEX_HOME=str(place.home / ".codex"),
        STRICT_KEY="dummy",
    )


def _said(ended: Ended) -> str:
    assert ended.status == 0, ended
    items = [json.loads(line).get("item") or {} for line in ended.out.splitlines()]
    return [item["text"] for item in items if item.get("type") == "agent_message"][-1]


def _settings(model: str, provider: str, sockets: bool) -> str:
    return f"""
{f'model = "{model}"' if model else ""}
model_provider = "strict"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.strict]
name = "{provider}"
base_url = "SERVER"
env_key = "STRICT_KEY"
wire_api = "responses"
supports_websockets = {str(sockets).lower()}
"""
