"""The asserts of inherited tests say what they saw."""

import pytest

pytest.register_assert_rewrite("holdfast.testing.contracts")
