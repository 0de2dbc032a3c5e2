"""Files in the chat are shown as they are now; changing one does not break what is cached."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.agent.loop import Agent
from holdfast.agent.permissions.rules import Permissions
from holdfast.agent.tools.chat_files import ChatFiles
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.cli.chat.mentions import taken_along
from holdfast.engine.plugins import provider
from holdfast.errors import HoldfastError
from holdfast.files import Root
from holdfast.testing import StrictServer
from tests.cli.running import values


def test_files_are_seen_as_they_are(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text("first = 1\n")
    (work / "notes.md").write_text("read me only\n")
    with (
        StrictServer("fine") as server,
        holdfast.open(tmp_path / "log.db") as hf,
        closing(provider("anthropic", "anthropic", key="k", url=server.url("anthropic"))) as to,
    ):
        s = hf.session(model="claude-sonnet-4-6", directory=work)
        agent = Agent(s, to, Toolbox(str(work)), rules=Permissions())
        agent.files.add("a.py")
        agent.files.add("notes.md", read_only=True)
        agent.turn("look")
        assert "first = 1" in body(server)
        assert "read me only" in body(server)
        (work / "a.py").write_text("second = 2\n")
        agent.turn("again")
        assert "second = 2" in body(server)
        assert "first = 1" not in body(server)
        agent.files.drop("a.py")
        agent.turn("and now")
        assert "second = 2" not in body(server)
        assert not [one.rule for one in server.asked if one.rule]


def body(server: Any) -> str:
    return str(server.asked[-1].body)


def test_only_text_beneath_the_directory(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\0\1")
    files = ChatFiles(Root(tmp_path))
    for path in ("../y", "x.bin", "absent"):
        with pytest.raises((HoldfastError, OSError)):
            files.add(path)
    assert files.named() == []


@pytest.mark.parametrize("model", ["claude-sonnet-4-6", "gpt-5"])
def test_a_file_takes_the_same_wherever_it_is_counted(model: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text("def mend(wall: str) -> str:\n    return wall\n" * 200)
    (told,) = values("count", str(work / "a.py"), "-m", model, "--tier", "estimate")
    with (
        StrictServer("fine") as server,
        holdfast.open(tmp_path / "log.db") as hf,
        closing(provider("anthropic", "anthropic", key="k", url=server.url("anthropic"))) as to,
    ):
        giving = {"model": model}
        s = hf.session(model=model, directory=work)
        agent = Agent(s, to, Toolbox(str(work)), rules=Permissions(), giving=giving)
        assert agent.would_send(model).tokens < told["tokens"]
        assert agent.files.add("a.py") == agent.files.size("a.py") == told["tokens"]
        _, along = taken_along("a.py", agent.files, 200_000)
        assert f"{told['tokens']:,} tokens" in along
        by = {line.section: line.tokens for line in agent.would_send(model).lines}
        assert told["tokens"] < by["chat_files"] < told["tokens"] * 1.05  # with its tag


def test_what_would_be_sent_is_the_same_in_the_chat_and_beside_it(tmp_path: Path) -> None:
    work, model = tmp_path / "work", "claude-sonnet-4-6"
    work.mkdir()
    (work / "a.py").write_text("first = 1\n" * 500)
    with (
        StrictServer("fine") as server,
        holdfast.open(tmp_path / "log.db") as hf,
        closing(provider("anthropic", "anthropic", key="k", url=server.url("anthropic"))) as to,
    ):
        s = hf.session(model=model, directory=work)
        agent = Agent(s, to, Toolbox(str(work)), rules=Permissions(), giving={"model": model})
        agent.turn("look")
        assert agent.would_send(model).tokens == s.explain_now().tokens
        assert agent.would_send(model).sent == s.explain_now().sent
        agent.files.add("a.py")
        more = agent.would_send(model).tokens - s.explain_now().tokens
        assert more > agent.files.size("a.py") / 2
        agent.turn("again")
        assert agent.would_send(model).tokens == s.explain_now().tokens
