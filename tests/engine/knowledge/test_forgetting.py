"""Erasing a session reaches what was kept of it: notes, the inbox, versions, and the two stages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import holdfast
from holdfast.core.knowledge.quotations import GONE, Quotable
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast
from holdfast.engine.knowledge.consolidation import Pipeline, consolidated, rollouts
from holdfast.engine.knowledge.extraction import Limits
from holdfast.model.message import assistant
from tests.engine.knowledge.obedient import Obedient

SECRET = "I always take the night train to Ghent on the first of the month."
OTHER = "We use the cluster kestrel for staging."


class ADayLater:
    def __init__(self, real: int) -> None:
        self._now = real + 86_400_000

    def now(self) -> int:
        return self._now


def everything(hf: Holdfast, project: Path) -> str:
    """All texts that are kept beside the log."""
    memory = hf.memory(project)
    files = [one.read_text() for one in Path(memory.place).parent.rglob("*") if one.is_file()]
    records = [
        repr(one)
        for scope in drive(hf.engine.store.notes.scopes())
        for kind in ("note", "proposal", "pending", "change", "rollout", "text")
        for one in drive(hf.engine.store.notes.records(scope, kind))
    ]
    return "\n".join([*files, *records])


def kept(hf: Holdfast, project: Path, words: str, model: Any = None) -> str:
    s = hf.session(model="gpt-4o", directory=project, summariser=model or Obedient())
    s.user(words)
    s.append(assistant("The night train to Ghent leaves at ten, the model adds here."))
    assert not hf.memory(project).extract(s, Limits(cap=10**12)).error
    return s.id


def test_notes_that_quote_an_erased_session_quote_it_no_more(tmp_path: Path) -> None:
    project = tmp_path / "p"
    (project / ".git").mkdir(parents=True)
    with holdfast.open(tmp_path / "log.db") as hf:
        memory = hf.memory(project)
        gone, stays = kept(hf, project, SECRET), kept(hf, project, OTHER)
        for waiting in memory.inbox():
            memory.accept(waiting.id)  # accepted notes keep no quotation either
        assert "night train" in everything(hf, project)
        erased = hf.erase(gone)
        assert erased.notes
        left = everything(hf, project)
        assert [line for line in left.splitlines() if "night train" in line] == []
        assert "Ghent" not in left
        assert OTHER in left
        assert hf.session(stays)


def test_what_somebody_wrote_beside_a_quotation_stays(tmp_path: Path) -> None:
    project = tmp_path / "p"
    (project / ".git").mkdir(parents=True)
    with holdfast.open(tmp_path / "log.db") as hf:
        memory = hf.memory(project)
        gone = kept(hf, project, SECRET)
        (one,) = [n for n in memory.notes().values() if "night" in n.text]
        place = Path(memory.place) / one.file
        place.write_text(place.read_text() + "\nTickets are paid by the office.\n")
        memory.notes()
        hf.erase(gone)
        left = memory.note(one.file)
        assert "Tickets are paid by the office." in left.text
        assert left.note.description == GONE
        assert "night train" not in everything(hf, project)


def test_notes_in_the_store_are_reached_too() -> None:
    with holdfast.open("memory:") as hf:
        memory = hf.memory(key="customer")
        s = hf.session(model="gpt-4o", summariser=Obedient())
        s.user(SECRET)
        memory.extract(s, Limits(cap=10**12))
        assert memory.notes()
        hf.erase(s.id)
        assert memory.notes() == {}
        assert memory.inbox() == ()


def test_the_two_stages_forget_an_erased_session(tmp_path: Path) -> None:
    project = tmp_path / "p"
    (project / ".git").mkdir(parents=True)

    def model(question: Any) -> Any:
        if "You turn one" in question.system:
            return json.dumps({
                "raw_memory": SECRET, "rollout_summary": SECRET, "rollout_slug": "train"
            })  # fmt: skip
        return Obedient()(question)

    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="gpt-4o", directory=project)
        s.user(SECRET)
        s.append(assistant("Noted."))
        real = hf.engine.clock.now()
        hf.engine.clock = ADayLater(real)
        t = hf.session(model="gpt-4o", directory=project, policy="codex", summariser=model)
        memory = hf.memory(project).inner
        drive(Pipeline(t.inner, memory, model="", cap=10**12).run())
        assert len(drive(rollouts(memory))) == 1
        place = Path(consolidated(memory).shelf.place)
        assert "night train" in (place / "raw_memories.md").read_text()
        hf.erase(s.id)
        assert drive(rollouts(memory)) == []
        assert list((place / "rollout_summaries").iterdir()) == []
        assert "night train" not in everything(hf, project)


def test_a_quotation_is_a_run_of_words_or_all_of_a_short_line() -> None:
    told = Quotable(["Please deploy to the kestrel cluster on every monday."])
    assert told.quotes("We deploy to the kestrel cluster, then rest.")
    assert not told.quotes("The cluster is called kestrel and belongs to nobody else.")
    assert told.quotes("kestrel cluster")
    assert not told.quotes("**Why:**")


def test_a_fact_that_another_session_tells_as_well_stays(tmp_path: Path) -> None:
    project = tmp_path / "p"
    (project / ".git").mkdir(parents=True)
    with holdfast.open(tmp_path / "log.db") as hf:
        stays = kept(hf, project, OTHER)
        gone = hf.session(model="gpt-4o", directory=project)
        gone.user(f"{SECRET} {OTHER}")
        # Something that the model learned from what it was shown of the other's notes
        hf.memory(project).extract(gone, Limits(cap=10**12))
        hf.erase(gone.id)
        assert OTHER in everything(hf, project)
        assert hf.session(stays)


def test_what_another_session_repeated_of_it_is_reached(tmp_path: Path) -> None:
    from holdfast.engine.knowledge.notes import Decided
    from holdfast.model.note import Evidence

    project = tmp_path / "p"
    (project / ".git").mkdir(parents=True)
    with holdfast.open(tmp_path / "log.db") as hf:
        gone, stays = kept(hf, project, SECRET), kept(hf, project, OTHER)
        text = f"---\nname: x\ndescription: y\ntype: project\n---\n\n{SECRET}\n"
        change = Decided(
            file="project_x.md", text=text, cause="extraction", evidence=(Evidence(stays, "e"),)
        )
        memory = hf.memory(project).inner
        waiting = drive(memory.propose(change, "seen in a manifest"))
        assert waiting
        drive(memory.accept(waiting.id))
        hf.erase(gone)
        assert "night train" not in everything(hf, project)
