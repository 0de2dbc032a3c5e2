"""The runner itself: a planted mistake is caught, one that nobody looks at survives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants import equivalents, operators, reach, running, tree
from tests.mutants.__main__ import difference, table
from tests.mutants.choosing import Choice
from tests.mutants.operators import Mutant, differs, mutants
from tests.mutants.reach import Map
from tests.mutants.running import Results, Verdict
from tests.mutants.sampling import PACKAGES, sample

PATH = "src/holdfast/core/ages.py"
SOURCE = b'''"""Ages."""

LEAST = 18


def grown(age: int) -> bool:
    """Whether somebody is grown."""
    if age >= LEAST:
        return True
    return False


def told(age: int) -> str:
    """Nobody asks for this."""
    return "old" if age > 90 else "young"
'''
TEST = """from holdfast.core.ages import grown


def test_eighteen_is_grown() -> None:
    assert grown(18)
    assert not grown(17)
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with one module and one test."""
    root = tmp_path_factory.mktemp("planted")
    for path, text in {
        PATH: SOURCE.decode(), "src/holdfast/__init__.py": "", "src/holdfast/core/__init__.py": "",
        "tests/core/test_ages.py": TEST, "tests/conftest.py": CONFTEST, "pyproject.toml": SETTINGS,
        ".gitignore": ".mutants/\n.venv/\n__pycache__/\n",
    }.items():  # fmt: skip
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    mine = Path(__file__).parent
    (root / "tests" / "mutants").mkdir()
    for file in mine.glob("*.py"):
        if not file.name.startswith("test_"):
            (root / "tests" / "mutants" / file.name).write_bytes(file.read_bytes())
    (root / "tests" / "mutants" / "equivalents.toml").write_text("")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


CONFTEST = """import hypothesis

hypothesis.settings.register_profile("house", deadline=None)
"""
SETTINGS = """[tool.pytest.ini_options]
pythonpath = ["."]
addopts = ["--import-mode=importlib"]
"""


def test_a_planted_mistake_is_caught_and_one_that_nobody_looks_at_survives(planted: Path) -> None:
    command = [sys.executable, "-m", "tests.mutants", "--seed", "1", "--count", "60"]
    command += ["--package", "core"]
    before = (planted / PATH).read_bytes()
    done = subprocess.run(
        command, cwd=planted, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (planted / PATH).read_bytes() == before
    lines = (planted / ".mutants" / "seed-1.jsonl").read_text().splitlines()
    results = Results(planted / ".mutants" / "seed-1.jsonl", tree.sources(planted))
    assert len(results.verdicts) == len(lines) - 1
    states = {one.key.split("|")[1]: one for one in results.verdicts.values()}
    assert states["grown"].state == "caught"
    assert "test_eighteen_is_grown" in states["grown"].by
    assert states["told"].state == "unreached"
    assert "+" in done.stdout
    assert "| told |" not in done.stdout
    assert "of them" not in done.stderr
    again = subprocess.run(
        command, cwd=planted, capture_output=True, text=True, timeout=300, check=False
    )
    assert "collecting" not in again.stdout  # and nothing is run again
    assert (planted / ".mutants" / "seed-1.jsonl").read_text().splitlines() == lines


def test_every_operator_proposes_programs_that_differ() -> None:
    source = b"""
async def f(a, b, *, c=1):
    if a < b and not c:
        raise ValueError("no")
    for one in a[1:]:
        if one is None:
            continue
        b.append(one, key="x")
    found = [x for x in a if x == "word" or x in ("y", "z")]
    a.x, b["k"] = 1, 2
    a.x = min(a, b) + 1
    g(a)
    a.first = f"{b}"
    total = {"one": 1, "two": 2.5}.get("one")
    db.run("SELECT a FROM b WHERE c <= ? ORDER BY d")
    if a:
        return None
    if b:
        return True
    return a if b else found | total


def g(a) -> None:
    print(a)
    a.close()
"""
    found = mutants("src/holdfast/core/x.py", source)
    programs = [one for one in found if differs(one, source)]
    names = {function.__name__.removeprefix("_") for function in operators.OPERATORS}
    assert {one.operator for one in programs} == names
    assert len({one.key for one in found}) == len(found)


def test_what_only_people_read_is_left_alone() -> None:
    source = b'''"""Text."""
from x import TYPE_CHECKING

if TYPE_CHECKING:
    import y

__all__ = ["a", "b"]


LEFT = ("there is no file", "make one")
FOUND = open(LEFT, encoding="utf-8"), token_hex(8)


class P(Protocol):
    def f(self) -> int:
        return 1


class C(Struct, frozen=True):
    __slots__ = ("a", "b")

    def __repr__(self) -> str:
        return "1" + "2"

    def f(self, a: Literal["x", "y"]) -> None:
        """Say 1."""
        raise InvalidRequest("say " + str(1))
'''
    assert [(one.operator, one.was) for one in mutants("m.py", source)] == [
        ("statement", 'raise InvalidRequest("say " + str(1))')
    ]


def test_what_nobody_could_tell_is_not_proposed() -> None:
    body = "def f(a, b):\n    {}\n    {}\n"

    def orders(*lines: str) -> int:
        found = mutants("m.py", body.format(*lines).encode())
        return sum(one.operator == "order" for one in found)

    assert orders("a.append(1)", "b.append(2)") == 0
    assert orders("a.append(1)", "a.append(2)") == 1
    assert orders("a.append(1)", "b.append(a)") == 1
    assert orders("a.append(1)", "b.append(len(a))") == 1
    assert orders("a.append(1)", "b.close()") == 1
    slices = [one.was for one in mutants("m.py", b"x = rows[0][0]\n") if one.operator == "slice"]
    assert slices == ["0"]


def test_a_sample_is_the_same_for_a_seed_and_fair_to_every_package() -> None:
    module = b"def f(a):\n" + b"".join(b"    a += %d\n" % n for n in range(2, 60))
    sources = {f"src/holdfast/{package}/m.py": module for package in PACKAGES}
    one, two = (sample(sources, 7, 65) for _ in range(2))
    assert one == two
    assert one != sample(sources, 8, 65)
    shares = [sum(f"/{package}/" in mutant.path for mutant in one) for package in PACKAGES]
    assert shares == [11, 11, 11, 11, 11, 10]
    assert len({(mutant.path, mutant.line) for mutant in one}) == 65


def test_a_statement_is_known_wherever_it_moves(tmp_path: Path) -> None:
    import ast

    def texts(source: bytes) -> list[reach.Place]:
        return [place for place, _ in reach.places("p", source, ast.parse(source))]

    body = b"def f():\n    x = 1\n    x = 1\n    return x\n"
    assert texts(body) == texts(b"import a\n\n\n" + body)
    assert [(place.text, place.nth) for place in texts(body)] == [
        ("x = 1", 0), ("x = 1", 1), ("return x", 0),
    ]  # fmt: skip


def test_nearer_tests_come_first_and_no_more_than_fit(tmp_path: Path) -> None:
    made = mutants(PATH, SOURCE)[-1]
    reached = Map(tmp_path)
    reached.places = {reach.Place(PATH, "told", made.statement, 0): 0}
    reached.tests = [
        reach.Test("tests/engine/test_far.py::test_a", 1.0, 1),
        reach.Test("tests/core/test_near.py::test_b", 1.0, 1),
        reach.Test("tests/core/test_ages.py::test_c", 1.0, 1),
        reach.Test("tests/core/test_ages.py::test_elsewhere", 1.0, 0),
    ]
    chosen = Choice(reached, {PATH: SOURCE}, 2.0).tests(made)
    assert chosen == [["tests/core/test_ages.py::test_c", "tests/core/test_near.py::test_b"]]
    assert Choice(reached, {PATH: SOURCE}, 9.0).tests(
        made, {"tests/core/test_ages.py::test_c"}
    ) == [["tests/core/test_near.py::test_b", "tests/engine/test_far.py::test_a"]]


def test_time_is_shared_by_near_tests_and_by_those_that_see_most(tmp_path: Path) -> None:
    made = mutants(PATH, SOURCE)[-1]
    reached = Map(tmp_path)
    reached.places = {reach.Place(PATH, "told", made.statement, 0): 0}
    reached.tests = [
        *(reach.Test(f"tests/core/test_ages.py::test_{n}", 1.0, 1) for n in range(9)),
        reach.Test("tests/core/test_ages.py::test_broad", 1.0, 0b1011),
        reach.Test("tests/core/test_ages.py::test_slow", 8.0, 0b1011011),
        reach.Test("tests/policies/test_whole.py::test_all", 2.0, 0b111),
    ]
    stages = Choice(reached, {PATH: SOURCE}, 6.0).tests(made)
    assert [name.partition("::")[2] for stage in stages for name in stage] == [
        *("test_0", "test_1", "test_broad", "test_2", "test_all")
    ]


def test_tests_that_are_gone_are_forgotten(planted: Path) -> None:
    collect = "from pathlib import Path; from tests.mutants import reach; import sys; reach.collect(Path('m'), 1, quick=sys.argv[1] == 'quick')"  # noqa: E501
    file = planted / "tests" / "core" / "test_old.py"
    slow = (
        TEST
        + "\n\n@__import__('pytest').mark.slow\ndef test_slow() -> None:\n    assert grown(90)\n"
    )

    def names() -> set[str]:
        lines = (planted / "m" / "reach.jsonl").read_text().splitlines()
        return {line.partition("::")[2].partition('"')[0] for line in lines if "test_old" in line}

    def run(text: str, quick: str) -> set[str]:
        file.write_text(text)
        subprocess.run([sys.executable, "-c", collect, quick], cwd=planted, check=True, timeout=120)
        return names()

    try:
        assert run(slow, "quick") == {"test_eighteen_is_grown"}
        assert run(slow + "\n", "all") == {"test_eighteen_is_grown", "test_slow"}
        assert run(TEST.replace("eighteen", "adult"), "all") == {"test_adult_is_grown"}
    finally:
        file.unlink()


def test_results_are_kept_until_the_source_changes(tmp_path: Path) -> None:
    file = tmp_path / "seed.jsonl"
    kept = Results(file, {"a": b"1"})
    verdict = Verdict("src/holdfast/core/a.py|f|x|1|2|0", 3, "caught", "t", 1.0)
    kept.add(verdict)
    assert Results(file, {"a": b"1"}).verdicts == {verdict.key: verdict}
    assert Results(file, {"a": b"2"}).verdicts == {}


def test_a_score_leaves_out_equivalent_mutants() -> None:
    def verdict(nth: int, state: str) -> Verdict:
        return Verdict(f"src/holdfast/core/a.py|f|x|1|2|{nth}", 1, state)

    states = ["caught", "caught", "caught", "survived", "equivalent"]
    columns = table([verdict(nth, state) for nth, state in enumerate(states)]).columns
    assert [[*column.cells] for column in columns] == [
        ["core", "all"], ["3", "3"], ["1", "1"], ["0", "0"], ["1", "1"], ["75.0%", "75.0%"],
    ]  # fmt: skip


def test_every_equivalent_mutant_is_still_there_and_argued() -> None:
    sources = tree.sources()
    for key, why in equivalents.load().items():
        path = key.partition("|")[0]
        assert path in sources, f"{path} is gone; take its mutants off the list"
        keys = {one.key for one in mutants(path, sources[path])}
        assert key in keys, f"no such mutant any more: {key!r}; take it off the list"
        assert len(why) > 20


def test_a_mutant_is_shown_as_a_difference_with_its_key() -> None:
    made: Mutant = mutants(PATH, SOURCE)[0]
    shown = difference(made, SOURCE)
    assert "-LEAST = 18" in shown
    assert f"key: {made.key!r}" in shown
    assert running.named("time: tests/a.py::test_b") == "tests/a.py::test_b"
