"""A model that nobody knows is said to be assumed, once, with where to say otherwise."""

import warnings
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import AssumedModel


def test_an_unknown_model_is_told_once() -> None:
    with holdfast.open("memory:") as hf:
        session = hf.session(model="acme-ultra")
        session.user("hello")
        with pytest.warns(AssumedModel, match=r"'acme-ultra': it is taken to hold 32,768 tokens"):
            assert session.window().window.over == 0
        session.window()
        session.preview()


def test_what_the_warning_asks_for_ends_it(tmp_path: Path) -> None:
    with holdfast.open("memory:") as hf:
        session = hf.session(model="acme:latest")
        session.user("hello")
        with pytest.warns(AssumedModel) as told:
            session.window()
    words = str(told[0].message)
    file = Path(words.rpartition(" in ")[2])
    assert file == tmp_path / "config" / "holdfast" / "profiles.toml"
    file.parent.mkdir(parents=True)
    file.write_text('["acme:latest"]\nwindow = 64_000\n')
    with holdfast.open("memory:") as hf, warnings.catch_warnings():
        warnings.simplefilter("error")
        again = hf.session(model="acme:latest")
        again.user("hello")
        assert again.window().profile.window == 64_000


def test_a_known_model_is_not_told_of() -> None:
    with holdfast.open("memory:") as hf, warnings.catch_warnings():
        warnings.simplefilter("error")
        session = hf.session(model="claude-sonnet-4-6")
        session.user("hello")
        session.window()
