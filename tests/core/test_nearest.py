"""A name that leads nowhere is answered with those most like it."""

import pytest

from holdfast.core.search.nearest import nearest, nearest_models

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


MODELS = [
    "claude-3-5-sonnet", "claude-opus-5", "claude-opus-5-5", "claude-sonnet-4-6", "claude-sonnet-5",
    "gpt-4", "gpt-4o", "gpt-4o-2024-05-13", "gpt-5", "gpt-5-mini", "gpt-oss-120b",
]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("sonet", ("claude-sonnet-5", "claude-sonnet-4-6", "claude-3-5-sonnet")),
        ("claude-sonet-4-6", ("claude-sonnet-4-6",)),
        ("anthropic/sonnet-4.6", ("claude-sonnet-4-6",)),
        ("opus", ("claude-opus-5-5", "claude-opus-5")),
        ("gpt5", ("gpt-5", "gpt-5-mini")),
        ("gtp-4o", ("gpt-4o",)),
        ("acme-ultra", ()),
        ("x", ()),
        ("", ()),
    ],
)
def test_a_model_is_known_by_any_stretch_of_its_name(asked: str, near: tuple[str, ...]) -> None:
    assert nearest_models(asked, MODELS)[: len(near) or 3] == near
