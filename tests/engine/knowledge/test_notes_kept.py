"""What is kept of sessions: when, how often, at what price, where, and whose edits count."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast, Session
from holdfast.engine.knowledge.extraction import Limits
from holdfast.engine.knowledge.project import main_worktree, memory_directory
from holdfast.engine.settings import MemorySettings, settings
from holdfast.errors import InvalidRequest
from holdfast.model.message import assistant
from tests.engine.knowledge.obedient import Obedient, said_in

FACT = "I always want the tests run against a real database."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "p"
    (place / ".git").mkdir(parents=True)
    return place


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "log.db") as hf:
        yield hf


def talk(hf: Holdfast, project: Path, model: Any, *said: str) -> Session:
    s = hf.session(model="gpt-4o", directory=project, summariser=model)
    for words in said:
        s.user(words)
        s.append(assistant("Understood."))
    return s


@pytest.mark.seed("004", 106, 118, 133)
def test_only_what_is_new_is_looked_at(hf: Holdfast, project: Path) -> None:
    model = Obedient()
    s = talk(hf, project, model, FACT)
    memory = hf.memory(project)
    memory.extract(s)
    s.user("Our cluster is called kestrel.")
    memory.extract(s)
    assert "real database" not in said_in(model.asked[-1]).partition("Existing notes")[0]
    assert "kestrel" in said_in(model.asked[-1])
    asked = len(model.asked)
    assert memory.extract(s).skipped == "nothing new"
    assert len(model.asked) == asked


@pytest.mark.seed("004", 117)
def test_it_waits_for_so_many_turns_where_a_setting_says_so(hf: Holdfast, project: Path) -> None:
    model = Obedient()
    s = talk(hf, project, model, FACT, "I like tea very much.")
    memory = hf.memory(project)
    assert memory.extract(s, Limits(every=3)).skipped == "later"
    assert model.asked == []
    s.user("We ship on Mondays, always.")
    assert len(memory.extract(s, Limits(every=3)).kept) == 3


@pytest.mark.seed("004", 129)
def test_where_the_model_fails_the_cursor_stays(hf: Holdfast, project: Path) -> None:
    def failing(question: Any) -> Any:
        raise RuntimeError("no line")

    s = talk(hf, project, failing, FACT)
    memory = hf.memory(project)
    made = memory.extract(s)
    assert made.skipped == "failed"
    assert "no line" in made.error
    assert drive(s.store.notes.cursor(s.id)) == 0
    good = hf.session(s.id, summariser=Obedient())
    assert memory.extract(good).kept


def test_extraction_and_recall_have_a_cap_of_their_own(hf: Holdfast, project: Path) -> None:
    model = Obedient()
    s = talk(hf, project, model, FACT)
    made = hf.memory(project).extract(s, Limits(cap=1))
    assert "is the cap" in made.error
    assert model.asked == []
    assert drive(s.store.notes.cursor(s.id)) == 0


def test_what_it_costs_counts_into_the_session(hf: Holdfast, project: Path) -> None:
    s = talk(hf, project, Obedient(), FACT)
    hf.memory(project).extract(s)
    causes = {one.cause for one in drive(s.store.calls.newest(s.id))}
    assert causes == {"memory"}


def test_the_sessions_own_cap_holds_for_it(hf: Holdfast, project: Path) -> None:
    model = Obedient()
    s = hf.session(model="gpt-4o", directory=project, summariser=model, cap=0.000_000_1)
    s.user(FACT)
    assert hf.memory(project).extract(s).error
    assert model.asked == []


@pytest.mark.seed("000", 102, 109, 189)
def test_each_worktree_has_notes_of_its_own_unless_a_setting_shares_them(tmp_path: Path) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    (main / ".git" / "worktrees" / "tree").mkdir(parents=True)
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/tree\n")
    assert memory_directory(str(main)) != memory_directory(str(tree))
    assert main_worktree(str(tree)) == str(tree), "the repository does not know it"
    (main / ".git" / "worktrees" / "tree" / "gitdir").write_text(f"{tree}/.git\n")
    assert main_worktree(str(tree)) == str(main)
    assert main_worktree(str(main)) == str(main)
    (tmp_path / "config" / "holdfast").mkdir(parents=True)
    (tmp_path / "config" / "holdfast" / "settings.toml").write_text(
        "[memory]\nshare_worktrees = true\n"
    )
    with holdfast.open("memory:") as hf:
        hf.memory(tree).add("We use kestrel.")
        assert len(hf.memory(main).notes()) == 1


@pytest.mark.seed("000", 110)
@pytest.mark.seed("004", 114)
def test_a_setting_and_a_variable_switch_notes_on_and_off(tmp_path: Path) -> None:
    there = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert settings("x", there).memory == MemorySettings()
    (tmp_path / "holdfast").mkdir()
    (tmp_path / "holdfast" / "settings.toml").write_text("[memory]\nenabled = false\n")
    assert not settings("x", there).memory.enabled
    forced = settings("x", {**there, "HOLDFAST_MEMORY": "on"}).memory
    assert (forced.enabled, forced.headless) == (True, True)
    assert not settings("x", {"HOLDFAST_MEMORY": "0"}).memory.enabled
    with pytest.raises(InvalidRequest, match="on or off"):
        settings("x", {"HOLDFAST_MEMORY": "maybe"})


@pytest.mark.seed("000", 106)
@pytest.mark.seed("004", 98)
def test_what_a_person_edits_is_taken_as_it_is(hf: Holdfast, project: Path) -> None:
    memory = hf.memory(project)
    made = memory.add("We deploy on Mondays.", name="deploys")
    place = Path(memory.place)
    (place / made.file).write_text(made.text.replace("Mondays", "Fridays"))
    (place / "user_by_hand.md").write_text("I like tea.")
    notes = memory.notes()
    assert "Fridays" in notes[made.file].text
    assert notes["user_by_hand.md"].note.type == "user"
    assert notes["user_by_hand.md"].record.trust == "user"
    assert "(user_by_hand.md)" in memory.index()
    (place / made.file).unlink()
    assert made.file not in memory.notes()
    causes = [one.cause for one in memory.history(made.file)]
    assert causes == ["hand", "hand", "hand"]
    memory.revert(memory.history(made.file)[-1].id)
    assert "Fridays" in memory.note(made.file).text


def test_use_and_age_outlive_an_edit(hf: Holdfast, project: Path) -> None:
    memory = hf.memory(project)
    made = memory.add("Deploys to kestrel need the VPN.", name="kestrel")
    memory.reminder(memory.recall("deploys to kestrel"))
    edited = memory.edit(made.file, made.text.replace("VPN", "new VPN"))
    assert (edited.record.uses, edited.record.created) == (1, made.record.created)


def test_what_is_no_plain_file_is_left_out_and_told(hf: Holdfast, project: Path) -> None:
    memory = hf.memory(project)
    memory.add("We use kestrel.")
    place = Path(memory.place)
    (project / "secret.md").write_text("a secret of another place")
    (place / "link.md").symlink_to(project / "secret.md")
    os.mkfifo(place / "pipe.md")
    (place / "huge.md").write_bytes(b"x" * (1 << 20))
    (place / "folder.md").mkdir()
    assert len(memory.notes()) == 1
    assert set(memory.problems) == {"link.md", "pipe.md", "huge.md", "folder.md"}
    assert "secret" not in str(memory.export())


def test_the_same_notes_without_files_are_kept_by_key_behind_both_doors() -> None:
    import asyncio

    async def both() -> None:
        async with holdfast.open_async("memory:") as hf:
            memory = hf.memory(key="user 7")
            await memory.add("I drive a van in Ghent.", type="user")
            (found,) = await memory.recall("who drives a van?")
            assert "Ghent" in found.note.body
            assert await hf.memory(key="user 8").notes() == {}

    asyncio.run(both())


@pytest.mark.seed("004", 131, 144)
def test_a_small_model_chooses_where_one_is_named_and_words_where_it_fails(
    hf: Holdfast, project: Path
) -> None:
    memory = hf.memory(project)
    tea = memory.add("I like tea.", type="user", name="tea")
    memory.add("Deploys to kestrel need the VPN.", name="kestrel")
    answers = [f'{{"selected_memories": ["{tea.file}"]}}', "no JSON"]
    asked: list[Any] = []

    def model(question: Any) -> str:
        asked.append(question)
        return answers.pop(0)

    s = hf.session(model="gpt-4o", directory=project, summariser=model)

    def find() -> list[str]:
        recalling = memory.inner.recalling.find(
            "how do deploys to kestrel work", session=s.inner, model="gpt-4o-mini", cap=10**9
        )
        return [one.file for one in drive(recalling)]

    assert find() == [tea.file]
    assert asked[0].model == "gpt-4o-mini"
    assert "- [user] user_tea.md" in asked[0].prompt
    assert find() == ["project_kestrel.md"]
    causes = {one.cause for one in drive(s.store.calls.newest(s.id))}
    assert causes == {"recall"}
