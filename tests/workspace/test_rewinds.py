"""Whatever an agent does to files, a rewind gives the earlier tree, and undo gives it back."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

import holdfast
from holdfast.errors import FilesChanged, HoldfastError
from tests.thorough import share
from tests.workspace.trees import Edit, Tree, do, edits, tree


class Rewinds(RuleBasedStateMachine):
    """An agent that edits with tools and commands, and nobody else."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="rewinds-"))
        self.root = self.base / "work"
        self.root.mkdir()
        (self.root / "a").write_bytes(b"from before")
        (self.root / "d").mkdir()
        self.hf = holdfast.open(self.base / "log.db")
        self.session = self.hf.session(directory=self.root)
        self.workspace = self.session.workspace()
        self.workspace.prepare()
        self.before: dict[int, Tree] = {}
        """The tree before each prompt, by the last entry that stays."""
        self.say()

    def say(self) -> None:
        self.before[self.session.info.head] = tree(self.root)
        self.session.user("go on")

    @rule()
    def prompt(self) -> None:
        self.say()

    @rule(edit=edits)
    def tool(self, edit: Edit) -> None:
        if edit[0] == "move":
            return  # it names two paths
        with self.workspace.recording(edit[1]):
            if edit[0] == "remove" and (self.root / edit[1]).is_dir():
                return  # a file tool removes no trees
            do(self.root, edit)

    @rule(several=st.lists(edits, min_size=1, max_size=6))
    def command(self, several: list[Edit]) -> None:
        with self.workspace.recording(cause="command"):
            for edit in several:
                do(self.root, edit)

    @rule(data=st.data(), restore=st.sampled_from(("code", "both")))
    def rewind(self, data: st.DataObject, restore: str) -> None:
        to = data.draw(st.sampled_from(sorted(self.before)))
        now = tree(self.root)
        plan = self.session.preview_rewind(to)
        assert tree(self.root) == now
        assert plan.conflicts == plan.uncovered == ()
        marker = self.session.rewind(to, restore=restore)
        assert tree(self.root) == self.before[to]
        if data.draw(st.booleans()):
            self.session.undo(marker.seq)
            assert tree(self.root) == now
            if data.draw(st.booleans()):
                self.session.redo(marker.seq)
                assert tree(self.root) == self.before[to]

    def teardown(self) -> None:
        self.hf.close()
        shutil.rmtree(self.base)


class Meanwhile(Rewinds):
    """The same while a user edits whatever they like."""

    def __init__(self) -> None:
        super().__init__()
        self.touched: dict[int, set[str]] = {}

    @rule(edit=edits)
    def by_hand(self, edit: Edit) -> None:
        do(self.root, edit)

    @precondition(lambda self: True)
    @rule(data=st.data(), choice=st.sampled_from(("keep", "restore")))
    def rewind(self, data: st.DataObject, choice: str) -> None:  # type: ignore[override]
        to = data.draw(st.sampled_from(sorted(self.before)))
        now = tree(self.root)
        plan = self.session.preview_rewind(to)
        ours = {step.path for step in plan.steps}
        theirs = {one.path for one in plan.conflicts}
        if theirs:
            self.refuses(to, now)
        try:
            marker = self.session.rewind(to, restore="code", resolve={"*": choice})
        except (HoldfastError, OSError):
            assert tree(self.root) == now  # all or nothing
            return
        after = tree(self.root)
        changed = {path for path in {*now, *after} if now.get(path) != after.get(path)}
        assert changed <= (ours if choice == "restore" else ours - theirs)
        for step in plan.steps:
            if step.path in changed and step.want.kind == "file":
                assert after[step.path][0] == "file"
        self.session.undo(marker.seq)
        assert tree(self.root) == now

    def refuses(self, to: int, now: Tree) -> None:
        with pytest.raises(FilesChanged):
            self.session.rewind(to, restore="both")
        assert tree(self.root) == now


quick: Any = settings(max_examples=share(40, of=2), stateful_step_count=12, deadline=None)
TestRewinds = Rewinds.TestCase
TestRewinds.settings = quick
TestMeanwhile = Meanwhile.TestCase
TestMeanwhile.settings = quick
