"""The agent's map: in its own section, told again only as what differs, gone where it cannot be."""

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import holdfast
from holdfast.agent.build import agent
from holdfast.agent.loop import Agent
from holdfast.agent.tools.repo_map import shown, why_none
from holdfast.engine.plugins import provider
from holdfast.testing import StrictServer


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    place = tmp_path / "work"
    place.mkdir()
    (place / "store.py").write_text("def open_store(): ...\n")
    (place / "use.py").write_text("from store import open_store\nopen_store()\n")
    return place


@contextmanager
def working(work: Path, server: StrictServer, policy: str = "holdfast") -> Iterator[Agent]:
    with (
        holdfast.open(work.parent / "log.db") as hf,
        closing(provider("anthropic", "anthropic", key="k", url=server.url("anthropic"))) as to,
    ):
        s = hf.session(model="claude-sonnet-4-6", directory=work, policy=policy)
        yield agent(s, to, "claude-sonnet-4-6", ())


def git(work: Path) -> None:
    subprocess.run(["git", "init", "-q", str(work)], check=True, timeout=30)


@pytest.mark.parametrize("policy", ["holdfast", "aider"])
def test_the_model_sees_the_map_and_later_only_what_is_new_of_it(work: Path, policy: str) -> None:
    git(work)
    with StrictServer("fine") as server, working(work, server, policy) as made:
        made.turn("look around")
        assert str(server.asked[-1].body).count("def open_store()") == 1
        first = len(made.session.preview(model="claude-sonnet-4-6").blocks)
        (work / "more.py").write_text("def more_to_see(): ...\nopen_store()\n")
        made.files.add("use.py")
        made.turn("and now `more_to_see`")
        body = str(server.asked[-1].body)
        assert body.count("def more_to_see()") == 1
        assert body.count("def open_store()") == 1, "what has not changed is not told again"
        assert "No longer in it: use.py" in body
        assert len(made.session.preview(model="claude-sonnet-4-6").blocks) > first
        assert "def more_to_see()" in shown(made)
        assert not [one.rule for one in server.asked if one.rule]


def test_a_turn_that_changes_nothing_leaves_the_map_as_it_was(work: Path) -> None:
    git(work)
    with StrictServer("fine") as server, working(work, server) as made:
        made.turn("look around")
        (work / "store.py").write_text("def open_store(path): ...\n")
        made.turn("go on with open_store")
        assert "def open_store(path)" not in str(server.asked[-1].body)
        made.map.forget()
        made.turn("go on")
        assert "def open_store(path)" in str(server.asked[-1].body)


def test_where_there_is_no_map_it_is_said_why(work: Path) -> None:
    with StrictServer("fine") as server:
        with working(work, server) as made:
            assert made.map is None
            assert "no git repository" in why_none(made)
            made.turn("look")
            assert "open_store" not in str(server.asked[-1].body)
        git(work)
        with working(work, server, "codex") as made:
            made.turn("look")
            assert "open_store" not in str(server.asked[-1].body)
            assert "codex has no map" in shown(made)
