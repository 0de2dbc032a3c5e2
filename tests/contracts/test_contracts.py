"""The contracts themselves: none hides another, and each can fail."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.client import drive
from holdfast.errors import InvalidRequest
from holdfast.ports import Store
from holdfast.stores.memory import MemoryStore
from holdfast.testing.contracts import Contract, StoreContract
from holdfast.testing.scripted import Scripted


def test_no_promise_hides_another_of_the_same_name() -> None:
    names = Counter(name for kind in StoreContract.__mro__ for name in vars(kind))
    assert [name for name, many in names.items() if many > 1 and name.startswith("test_")] == []


def test_a_contract_asks_how_to_open_a_store(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError):
        Contract().open_store(tmp_path)


def forgetful(append: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    async def without_a_key(session: str, drafts: Any, **more: Any) -> Any:
        return await append(session, drafts, expect=more.get("expect"))

    return without_a_key


def test_a_store_that_forgets_its_keys_is_caught() -> None:
    store = MemoryStore()
    store.log.append = forgetful(store.log.append)  # type: ignore[method-assign]
    kept: Store = store
    with pytest.raises(AssertionError):
        StoreContract().test_a_key_already_used_returns_what_it_made(kept)


def test_a_script_answers_in_order_and_remembers_what_it_was_asked() -> None:
    provider = Scripted("one", ValueError("no"), lambda request: f"you said {request}")
    assert drive(provider.send("a")) == "one"
    with pytest.raises(ValueError, match="no"):
        drive(provider.send("b"))
    assert drive(provider.send("c")) == "you said c"
    assert (provider.asked, provider.left) == (["a", "b", "c"], 0)
    with pytest.raises(InvalidRequest, match="request 4"):
        drive(provider.send("d"))


def test_a_script_may_wait_or_fail_by_what_it_is_asked() -> None:
    async def later(request: object) -> object:
        return request

    def refuse(request: object) -> object:
        return ConnectionError(f"refused {request}")

    provider = Scripted(later, refuse)
    assert drive(provider.send("a")) == "a"
    with pytest.raises(ConnectionError, match="refused b"):
        drive(provider.send("b"))


def test_what_needs_neither_pytest_nor_hypothesis_imports_without_them() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = sys.modules['pytest'] = None; "
        "import holdfast.testing.factories, holdfast.testing.scripted"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
