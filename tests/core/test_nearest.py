"""A name that leads nowhere is answered with those most like it."""

import pytest

from holdfast.core.nearest import nearest

IDS = ["01M7FGA1B2C3", "01M7FGK8X9YZ", "01M7FHQQQQQQ", "01N0AAAAAAAA"]


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("01M7FGA", ("01M7FGA1B2C3",)),
        ("01m7fg", ("01M7FGA1B2C3", "01M7FGK8X9YZ")),
        ("01M7FGA1B2C4", ("01M7FGA1B2C3",)),
        ("01M7FGK8X", ("01M7FGK8X9YZ",)),
        ("01N7FGK8X", ("01M7FGK8X9YZ",)),
        ("01M7FGKX8", ("01M7FGK8X9YZ",)),
        ("nope", ()),
        ("", ()),
        ("x", ()),
    ],
)
def test_a_slip_is_forgiven(asked: str, near: tuple[str, ...]) -> None:
    assert nearest(asked, IDS)[: len(near) or 2] == near


def test_ids_that_share_almost_everything_are_told_apart_by_the_rest() -> None:
    ids = [f"01M7FGAAAAAA{tail}" for tail in ("1111", "2222", "3K3K")]
    assert nearest("01M7FGAAAAAA3K4K", ids) == ("01M7FGAAAAAA3K3K",)


def test_one_letter_may_be_wrong_where_nothing_else_differs() -> None:
    assert nearest("session-onf", ["session-one"]) == ("session-one",)
