"""A small day's work with everything in it that is measured, and who listens.

As a program it does that work by the environment it is given; with Prometheus it then prints what
a scrape of itself says.
"""

import os
import sys
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import holdfast
from holdfast.agent.loop import Agent
from holdfast.agent.permissions.rules import Approval, Permissions
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.engine.client import Holdfast
from holdfast.engine.plugins import provider
from holdfast.errors import AuthError
from holdfast.model.message import ToolCall
from holdfast.model.reply import Usage
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer

KEY = "sk-ant-canary-key-0123456789"
WORDS = "canary-word"
"""Stands in everything that anybody says, is given or answers."""

USED = Usage(input=1_000, cache_read=200, cache_write=50, output=100)
LIMITS = {
    "anthropic-ratelimit-input-tokens-limit": "80000",
    "anthropic-ratelimit-input-tokens-remaining": "4000",
    "anthropic-ratelimit-input-tokens-reset": "2099-01-01T00:00:00Z",
}
COMMIT = "git -c user.name=N -c user.email=n@example.org commit -m"


def answers() -> Any:
    """What the model asks for, one after another."""
    prepare = f"git init -q . && git add -A && {COMMIT} {WORDS}"
    request = "PATH=$PWD/bin:$PATH gh pr create --fill"
    asked = [
        Ask("write", {"path": "a.py", "content": f"one\ntwo  # {WORDS}\nthree\n"}),
        Ask("edit", {"path": "a.py", "old": "three", "new": "3\n4"}),
        Ask("edit", {"path": "b.py", "old": WORDS, "new": ""}),
        Ask("shell", {"command": prepare}),
        Ask("shell", {"command": f"{COMMIT} {WORDS}"}),
        Ask("shell", {"command": request}),
        Ask(f"tool-{WORDS}", {}),
    ]
    told = [answer(WORDS, one, usage=USED, headers=LIMITS) for one in asked]
    return iter([*told, answer(f"Done. {WORDS}", usage=USED, headers=LIMITS)])


def leave(call: ToolCall) -> Approval:
    """What the user says where no rule does."""
    return "no" if "b.py" in call.input else "yes"


def play(hf: Holdfast, work: Path) -> str:
    """Work through it in a directory; the session."""
    (work / "bin").mkdir(parents=True)
    program = work / "bin" / "gh"
    program.write_text("#!/bin/sh\necho https://github.com/a/b/pull/7\n")
    program.chmod(0o755)
    said = answers()
    with StrictServer(lambda _: next(said)) as server:
        s = hf.session(model="claude-sonnet-4-6", directory=work)
        with closing(provider("anthropic", "anthropic", key=KEY, url=server.url())) as to:
            rules = Permissions(allow=("write", "shell"))
            Agent(s, to, Toolbox(str(work)), rules=rules, ask=leave).turn(f"Please. {WORDS}")
    with (
        StrictServer(answer(status=401, error=f"no such key: {WORDS}")) as server,
        closing(provider("anthropic", "anthropic", key=KEY, url=server.url())) as to,
    ):
        again = hf.session(s.id)
        again.user("Once more.")
        try:
            again.send(to)
        except AuthError:
            compact(hf, s.id)
    return s.id


def compact(hf: Holdfast, id: str) -> None:
    """Tell most of a long conversation in a summary, by hand."""
    s = hf.session(id, summariser=lambda _: f"They talked of {WORDS}.")
    for _ in range(30):
        s.append(holdfast.assistant(f"{WORDS} and more of it. " * 100))
        s.user(f"Go on. {WORDS}")
    s.apply(s.plan())


def main() -> None:
    """Do the work as the environment has set it up."""
    with holdfast.open(Path(sys.argv[1]) / "log.db") as hf:
        play(hf, Path(sys.argv[1]) / "work")
    if port := os.environ.get("OTEL_EXPORTER_PROMETHEUS_PORT"):
        with urllib.request.urlopen(f"http://localhost:{port}/metrics") as scraped:
            sys.stdout.write(scraped.read().decode())


if __name__ == "__main__":
    main()
