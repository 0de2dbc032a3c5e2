"""Failpoints are placed, named and reached; armed only when asked; and harmless when they fail."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import failpoints
from holdfast.failpoints import POINTS, VARIABLE, arm, arm_from, disarm, fail_at, failpoint
from tests.conftest import ROOT
from tests.faults.compactions import passings
from tests.faults.imports import passings as imported
from tests.faults.kills import reached
from tests.faults.look import difference
from tests.faults.stores import STORES
from tests.faults.workload import observe, states, steps
from tests.workspace.work import points_reached

SEED = 5


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    yield
    disarm()


def placed() -> list[str]:
    """The name of every failpoint in the source."""
    return [
        ast.literal_eval(node.args[0])
        for file in sorted((ROOT / "src/holdfast").rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "failpoint"
    ]


def test_every_point_is_placed_once_and_registered() -> None:
    assert sorted(placed()) == sorted(POINTS)


def test_the_workload_reaches_every_point(tmp_path: Path) -> None:
    compacting = {point for point, _ in passings(tmp_path / "compact", "holdfast", SEED)}
    importing = {point for point, _ in imported(tmp_path / "import", "holdfast")}
    notes = {point for point in POINTS if point.startswith("memory.")}  # test_crashes.py has them
    (tmp_path / "rewind").mkdir()
    others = compacting | importing | notes | points_reached(tmp_path / "rewind")
    assert set(reached(tmp_path / "store", SEED)) | others == set(POINTS)


def test_a_point_that_is_not_registered_cannot_be_armed() -> None:
    with pytest.raises(ValueError, match="no failpoint 'nowhere'"):
        arm("nowhere", lambda: None)


def test_points_are_armed_by_a_variable_and_act_at_the_passing_it_names() -> None:
    arm_from({VARIABLE: "store.after_begin=fail:2,append.after_key=fail"})
    failpoint("store.after_begin")
    with pytest.raises(RuntimeError):
        failpoint("store.after_begin")
    failpoint("store.after_begin")
    with pytest.raises(RuntimeError):
        failpoint("append.after_key")


@pytest.mark.parametrize("wish", ["store.after_begin", "store.after_begin=burn:1", "x=kill:n"])
def test_a_wish_that_makes_no_sense_is_refused(wish: str) -> None:
    with pytest.raises(ValueError, match=VARIABLE):
        arm_from({VARIABLE: wish})


def test_nothing_is_armed_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "store.after_begin=fail:1")
    arm_from({})
    failpoint("store.after_begin")
    source = Path(failpoints.__file__).read_text("utf-8")
    assert "os.environ" not in source
    assert "getenv" not in source


@pytest.mark.parametrize("point", POINTS)
def test_a_failure_at_any_point_leaves_nothing_half_done(point: str, tmp_path: Path) -> None:
    store = None
    arm(point, fail_at(2))
    for number, step in enumerate(steps(SEED)):
        again = False
        while True:
            try:
                store = store or STORES["holdfast"].open(tmp_path / "store.db")
                step.run(store, again=again)
                break
            except RuntimeError:
                again = True
                if store:
                    assert observe(store) in states(SEED)[number : number + 2]
    assert store
    assert observe(store) == states(SEED)[-1], difference(observe(store), states(SEED)[-1])
    store.close()
