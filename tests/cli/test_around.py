"""What was found is on the screen once it is opened, whatever is around it."""

import pytest
from rich.cells import cell_len

import holdfast
from tests.cli.running import run

NOISE = "many words of no interest to anybody\n" * 30


@pytest.fixture
def session() -> str:
    """A session in which what is looked for stands deep in a long entry among long ones."""
    with holdfast.open() as hf:
        s = hf.session(title="The sea")
        for _ in range(6):
            s.user(NOISE)
        parts = [holdfast.Text(NOISE) for _ in range(5)]
        found = holdfast.Text(f"{NOISE}The walrus sleeps.\n{NOISE}")
        s.append(holdfast.Message(role="user", parts=(*parts, found)))
        for _ in range(6):
            s.user(NOISE)
        return s.id


@pytest.mark.parametrize(("rows", "columns"), [(24, 80), (40, 120), (12, 60), (24, 30)])
def test_a_hit_and_its_heading_are_on_the_screen(session: str, rows: int, columns: int) -> None:
    told = run("search", "walrus", "--open", "1", FORCE_COLOR="1", NO_COLOR="1",
               LINES=str(rows), COLUMNS=str(columns)).stdout  # fmt: skip
    lines = told.splitlines()
    assert len(lines) < rows
    assert max(map(cell_len, lines)) <= columns
    assert "The sea" in lines[0]
    assert told.index("▶ #7 user") < told.index("walrus sleeps")


def test_what_is_next_to_a_hit_is_shown_as_far_as_it_fits(session: str) -> None:
    with holdfast.open() as hf:
        s = hf.session()
        for n in range(7):
            s.user("The ship sails." if n == 3 else f"entry {n} " + NOISE)
    told = run("search", "ship", "--open", "1", FORCE_COLOR="1", NO_COLOR="1", LINES="24").stdout
    assert len(told.splitlines()) == 22
    assert "many words of no interest" in told[: told.index("▶")]
    assert "entry 4" in told
    assert "entry 5" not in told
    assert "--at 4 --around 3 --full | less" in told


def test_a_pipe_gets_everything(session: str) -> None:
    told = run("search", "walrus", "--open", "1", LINES="24").stdout
    assert told.count("no interest") == 30 * (6 + 5 + 2)
