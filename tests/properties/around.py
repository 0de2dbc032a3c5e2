"""What surrounds a conversation, varying from window to window, on either store."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from holdfast.engine.client import Holdfast, Session, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.window.prepared_window import PreparedWindow
from holdfast.stores.sqlite.store import SqliteStore
from tests.properties.histories import opened

CLAUDE = "claude-sonnet-4-6"
AROUND = st.fixed_dictionaries(
    {},
    optional={
        "instructions": st.sampled_from(["Always write tests.", "Use tabs.", "Be kind."]),
        "memory": st.sampled_from(["It is a parser.", "It is a printer."]),
        "context": st.dictionaries(
            st.sampled_from(["cwd", "branch", "open file"]), st.sampled_from("abc"), min_size=1
        ),
    },
)
"""What may differ from window to window."""
SHARE = st.integers(0, 3).map(lambda n: n == 0)
"""A share of the examples."""


@contextmanager
def kept(window: int, durable: bool) -> Iterator[Holdfast]:
    """An engine over the memory store, or over a file."""
    with opened(window) as hf, TemporaryDirectory() as directory:
        if not durable:
            yield hf
            return
        store = SqliteStore.open(Path(directory) / "log.db")
        clock = SystemClock()
        engine = Engine(
            store, clock=clock, ids=Ulids(clock), lock=ThreadLock, catalogue=hf.catalogue
        )
        with Holdfast(engine) as filed:
            yield filed


def answer(s: Session, made: PreparedWindow) -> None:
    """A reply comes, with what it took."""
    made.request("anthropic")
    s.reply(
        {
            "id": f"msg_{s.info.head}",
            "type": "message",
            "role": "assistant",
            "model": CLAUDE,
            "content": [{"type": "text", "text": "Done."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": made.tokens, "output_tokens": 3},
        }
    )
