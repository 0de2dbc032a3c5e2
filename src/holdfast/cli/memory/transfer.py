"""`holdfast memory export` and `import`: notes as plain files, in and out."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.cli.options import Asked, common

MOST = 10_000
"""So many files are taken over at once."""


@click.command("export")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--project", metavar="DIR", default="", help="The project.")
@click.option("--key", metavar="KEY", default="", help="Notes of a program without files.")
@common
def export_command(asked: Asked, directory: Path, project: str, key: str) -> None:
    """Write all notes and their index into a directory."""
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.files import Root, private_directory

    with asked.open(make=True) as hf:
        texts = hf.memory(project, key=key).export()
    if texts:
        root = Root(private_directory(directory))
        for file, text in texts.items():
            root.write(file, text.encode("utf-8", "replace"))
    if asked.json:
        emit({"directory": str(directory), "files": sorted(texts)})
    else:
        say(f"{len(texts)} files are in {directory}." if texts else "There are no notes yet.")


@click.command("import")
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--project", metavar="DIR", default="", help="The project.")
@click.option("--key", metavar="KEY", default="", help="Notes of a program without files.")
@common
def import_command(asked: Asked, directory: Path, project: str, key: str) -> None:
    """Take notes over from a directory, such as another program's memory.

    They are taken as yours: look at them first.
    """
    from holdfast.cli.ui.terminal import emit, say
    from holdfast.core.knowledge.notes import LARGEST
    from holdfast.engine.knowledge.safe_read import read_text
    from holdfast.files import Root

    root = Root(directory)
    names = [one.path for one in root.listing(limit=MOST) if one.path.endswith(".md")]
    texts = {name: read_text(root, name, LARGEST).text for name in names}
    with asked.open(make=True) as hf:
        made = hf.memory(project, key=key).import_notes(texts)
    if asked.json:
        emit({"files": [one.file for one in made]})
    else:
        say(f"{len(made)} of {len(texts)} files were taken over." if texts else "No notes there.")
