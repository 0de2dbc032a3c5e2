"""Everything that reads a repository's files, with what it did told: for the hostile corpus."""

import json
import os
import sys
from typing import Any

ACTS = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork")


def main(directory: str, trust: str) -> None:
    did: list[str] = []

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event.startswith(ACTS):
            did.append(event)

    sys.addaudithook(hook)
    before = dict(os.environ)
    told = _read(directory, trust)
    assert dict(os.environ) == before
    print(json.dumps({"did": did, **told}))


def _read(directory: str, trust: str) -> dict[str, Any]:
    import holdfast
    from holdfast.core.knowledge.skills import given
    from holdfast.engine.compaction.focus import written_down
    from holdfast.engine.settings import settings

    with holdfast.open("memory:") as hf:
        source = hf.instructions(directory, trust=trust)
        source.touch("src/x.py", "a", "../outside/x", "/etc/passwd", "a/b/c")
        s = hf.session(model="claude-sonnet-4-6", directory=directory)
        s.user("hello")
        window = s.window(sources=[source, source.skills])
        parts = [part for block in window.window.blocks for part in block.parts]
    return {
        "texts": [getattr(part, "text", "") for part in parts],
        "skills": [given(one) for one in source.skills.found if one.acts],
        "focus": written_down(directory, trust).text,
        "states": {one.path: one.state for one in (*source.files, *source.skills.found)},
        "settings": [settings().trust, settings().store],
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
