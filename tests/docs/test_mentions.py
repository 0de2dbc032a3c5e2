"""Every command, error, marker and port is mentioned somewhere in the documentation.

What does not exist yet is skipped by name; once its module exists, an empty set is a failure.
"""

import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import get_args

import click
import pytest

from tests.docs.pages import pages


def commands_of(cli: ModuleType) -> set[str]:
    return set(walk(cli.main, "holdfast"))


def walk(command: click.Command, name: str) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield name
        return
    context = click.Context(command)
    for word in command.list_commands(context):
        child = command.get_command(context, word)
        if child and not child.hidden:
            yield from walk(child, f"{name} {word}")


def errors_of(errors: ModuleType) -> set[str]:
    return {name for name, value in own_classes(errors) if issubclass(value, Exception)}


def markers_of(log: ModuleType) -> set[str]:
    """The members of the union; each may be wrapped in Annotated."""
    union = getattr(log.Marker, "__value__", log.Marker)
    return {member.__name__ for member in get_args(union) if inspect.isclass(member)}


def ports_of(ports: ModuleType) -> set[str]:
    """The protocols of the package, wherever in it they are written."""
    return {
        name
        for name, value in inspect.getmembers(ports, inspect.isclass)
        if getattr(value, "_is_protocol", False) and value.__module__.startswith(ports.__name__)
    }


def own_classes(module: ModuleType) -> list[tuple[str, type]]:
    return [
        (name, value)
        for name, value in inspect.getmembers(module, inspect.isclass)
        if value.__module__ == module.__name__ and not name.startswith("_")
    ]


SUBJECTS = {
    "holdfast.cli": commands_of,
    "holdfast.errors": errors_of,
    "holdfast.model.log": markers_of,
    "holdfast.ports": ports_of,
}


@pytest.mark.parametrize(("module", "names_of"), SUBJECTS.items(), ids=list(SUBJECTS))
def test_everything_public_is_mentioned(
    module: str, names_of: Callable[[ModuleType], set[str]]
) -> None:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        pytest.skip(f"{module} is not written yet")
    names = names_of(importlib.import_module(module))
    assert names, f"found nothing in {module} that should be mentioned"
    assert missing(names, documentation()) == []


def missing(names: set[str], text: str) -> list[str]:
    """Names that no code in the text holds; the same word in a sentence is not a mention."""
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    return sorted(name for name in names if not re.search(rf"\b{re.escape(name)}\b", code))


def documentation() -> str:
    # A decision tells why, not how: a mention there helps nobody who is looking something up.
    return "\n".join(page.read_text("utf-8") for page in pages() if page.parent.name != "decisions")


def test_a_name_that_is_not_mentioned_is_found() -> None:
    text = "`Clear(…)` hides.\n\n```python\nUndo()\n```\n\nPin and `Folder` do not count."
    assert missing({"Fold", "Clear", "Undo", "Pin"}, text) == ["Fold", "Pin"]
