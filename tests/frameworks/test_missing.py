"""Without its framework an adapter says what is missing, and the library needs none of them."""

import subprocess
import sys

import pytest

ADAPTERS = {
    "agents_sdk": ("agents", "pip install openai-agents"),
    "langchain": ("langchain", "pip install langchain"),
    "pydantic_ai": ("pydantic_ai", "pip install pydantic-ai"),
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_missing_framework_is_named(adapter: str) -> None:
    framework, remedy = ADAPTERS[adapter]
    code = (
        f"import sys; sys.modules[{framework!r}] = None\n"
        "from holdfast.errors import InvalidRequest\n"
        f"try:\n    import holdfast.frameworks.{adapter}\n"
        "except InvalidRequest as told:\n    print(told)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert remedy in done.stdout
