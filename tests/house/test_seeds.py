"""What the seed documents ask for is held by tests, and the page that says so is not stale."""

from pathlib import Path

from tools import seeds

ROOT = Path(__file__).resolve().parents[2]
DIFFERENCES = 15


def test_every_mark_names_an_item() -> None:
    assert seeds.unknown() == []


def test_the_page_says_what_the_marks_say() -> None:
    told = (ROOT / seeds.PAGE).read_text("utf-8")
    assert told == seeds.page(), "run: python tools/seeds.py"


def test_each_item_is_done_in_a_file_that_exists() -> None:
    gone = [
        f"{one.seed}-{one.number}: {path}"
        for one in seeds.items()
        for path in one.where
        if not (ROOT / "src/holdfast" / path).exists()
    ]
    assert gone == []


def test_the_differences_on_purpose_are_few_and_name_a_law() -> None:
    known = {one.key for one in seeds.items()}
    found = seeds.differences()
    assert len(found) <= DIFFERENCES
    assert all(one.items and 1 <= one.law <= 16 and one.why for one in found)
    assert {key for one in found for key in one.items} <= known


def test_items_are_numbered_without_a_gap() -> None:
    for seed in {one.seed for one in seeds.items()}:
        numbers = [one.number for one in seeds.items() if one.seed == seed]
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_mark_is_found_wherever_it_stands(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    lines = (
        'pytestmark = pytest.mark.seed("000", 1)',
        '@pytest.mark.seed("004", 12, 13)\ndef test_a(): ...',
        '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.seed("001", 2))])',
        "def test_b(x): ...",
    )
    (tests / "test_x.py").write_text("\n".join(lines), "utf-8")
    assert seeds.holding(tmp_path) == {
        ("000", 1): ["tests/test_x.py"],
        ("004", 12): ["tests/test_x.py::test_a"],
        ("004", 13): ["tests/test_x.py::test_a"],
        ("001", 2): ["tests/test_x.py::test_b"],
    }
