"""A policy of the user's own is kept by what it says, and one that is brought is not obeyed."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.compaction.stored_policies import MARK
from holdfast.engine.plugins import catalogue
from holdfast.errors import InvalidRequest, NotFound
from holdfast.model import wire
from holdfast.model.message import assistant

MODEL = "claude-sonnet-4-6"
STORES = pytest.mark.parametrize("store", ["memory:", "log.db"])


def own(folder: Path, name: str = "mine", words: str = "Summarise as a haiku.") -> Path:
    """A policy of the user's own, with a prompt beside it."""
    folder.mkdir(exist_ok=True)
    (folder / "short.md").write_text(words)
    file = folder / f"{name}.toml"
    file.write_text(f'like = "holdfast"\nname = "{name}"\n\n[summarise]\nprompt = "short.md"\n')
    return file


def talked(hf: holdfast.Holdfast, **given: Any) -> Any:
    s = hf.session(model=MODEL, **given)
    for turn in range(12):
        s.user(f"Question {turn} about src/part_{turn}.py, please.")
        s.append(assistant(f"Answer {turn}: " + f"the part number {turn} is fine. " * 60))
    return s


def test_another_process_goes_on_once_the_file_is_gone(tmp_path: Path) -> None:
    file = own(tmp_path / "policies")
    with holdfast.open(tmp_path / "log.db") as hf:
        s = talked(hf, policy=str(file))
        id, fork = s.id, s.fork(4).id
        assert s.info.policy.startswith(f"mine{MARK}")
        assert s.policy().name == "mine"
    for one in (tmp_path / "policies").iterdir():
        one.unlink()
    asked: list[str] = []

    def summarise(question: Any) -> str:
        asked.append(str(question.request("anthropic")))
        return "The parts are fine."

    with holdfast.open(tmp_path / "log.db") as hf:
        for each in (id, fork):
            s = hf.session(each, summariser=summarise)
            assert s.window().policy_name == "mine"
        s = hf.session(id, summariser=summarise)
        s.plan()
        assert any("as a haiku" in one for one in asked)


@STORES
def test_a_policy_object_is_taken_wherever_a_name_is(store: str, tmp_path: Path) -> None:
    policy = replace(catalogue().policy("aider"), name="tighter")
    url = store if store == "memory:" else str(tmp_path / store)
    with holdfast.open(url) as hf:
        s = hf.session(model=MODEL, policy=policy)
        s.user("Hello")
        assert s.window().policy_name == "tighter"
        s.set_policy("holdfast")
        assert s.window().policy_name == "holdfast"
        assert s.window(policy=policy).policy_name == "tighter"
        s.set_policy(policy)
        assert s.policy() == policy
        assert s.explain().lines
        for wrong in (42, b"x", {"name": "x"}, replace(policy, name=7)):
            with pytest.raises(InvalidRequest):
                s.set_policy(wrong)  # type: ignore[arg-type]


def test_a_file_that_is_changed_holds_once_it_is_set_again(tmp_path: Path) -> None:
    file = own(tmp_path / "policies")
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, policy=str(file))
        before = s.info.policy
        own(tmp_path / "policies", words="Summarise in one line.")
        assert hf.session(s.id).info.policy == before
        s.set_policy(str(file))
        assert s.info.policy != before


def test_a_preview_keeps_nothing(tmp_path: Path) -> None:
    file = own(tmp_path / "policies")
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL)
        s.user("Hello")
        assert s.preview(policy=str(file)).policy_name == "mine"
        hash = hf.engine.kept_policies.named(str(file), s.catalogue)[0].rpartition(":")[2]
        with pytest.raises(NotFound):
            drive(s.store.calls.kept(s.id, hash))


def test_what_an_import_brings_is_kept_and_not_in_force_until_it_is_named(tmp_path: Path) -> None:
    file = own(tmp_path / "policies")
    with holdfast.open(tmp_path / "one.db") as hf:
        s = talked(hf, policy=str(file))
        name, id = s.info.policy, s.id
        hf.export(id, file=tmp_path / "portable.json")
    file.unlink()
    with holdfast.open(tmp_path / "two.db") as hf:
        hf.engine.kept_policies._known.clear()
        (report,) = hf.import_from(tmp_path / "portable.json")
        assert any(name in one.what for one in report.problems)
        s = hf.session(id)
        assert s.info.policy == "holdfast"
        assert s.window(model=MODEL).policy_name == "holdfast"
        s.set_policy(name)
        assert s.window(model=MODEL).policy_name == "mine"


def test_brought_content_that_names_a_file_opens_none(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("the secret")
    with holdfast.open(tmp_path / "one.db") as hf:
        s = hf.session(model=MODEL, policy=str(own(tmp_path / "policies")))
        data = drive(s.store.calls.kept(s.id, s.info.policy.rpartition(":")[2]))
        told = json.loads(data)
        told["policy"]["summarise"]["prompt"] = str(secret)
        hash = drive(s.store.calls.keep(s.id, wire.encode(told)))
        with pytest.raises(InvalidRequest, match="names a file"):
            s.set_policy(f"mine{MARK}{hash}")
        with pytest.raises(NotFound):
            s.set_policy(f"mine{MARK}{'0' * 64}")
        assert s.policy().name == "mine"
