"""Puts a mutant into a process that has imported its module already.

Every function made from the module gets the code that the mutated source has for it, wherever the
function is referred to: decorated, in a table, or imported under another name. What is done while a
module is imported (constants, classes, defaults) cannot be changed so; then the module has to be
imported anew, in a process that has not done so yet.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from types import CodeType, FunctionType

Key = tuple[str, int]


def functions(folder: str) -> dict[str, list[FunctionType]]:
    """Every function there is that was made from a file beneath a folder, by that file."""
    found: dict[str, list[FunctionType]] = {}
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(folder):
            found.setdefault(one.__code__.co_filename, []).append(one)
    return found


def graft(made: list[FunctionType], file: str, source: bytes, mutated: bytes) -> bool:
    """Give the functions made from a module their mutated code; False where that does not do."""
    before, after = _codes_by_name(source, file), _codes_by_name(mutated, file)
    if before.keys() != after.keys():
        return False
    new = {before[key].co_firstlineno: after[key] for key in before}
    names = {before[key].co_firstlineno: before[key].co_qualname for key in before}
    try:
        for function in made:
            line = function.__code__.co_firstlineno
            if names.get(line) == function.__code__.co_qualname:
                function.__code__ = new[line]
    except ValueError:  # what it closes over is not the same any more
        return False
    return True


def _codes_by_name(source: bytes, file: str) -> dict[Key, CodeType]:
    """The code of each function by its name, and how often that name came before."""
    seen: Counter[str] = Counter()
    found: dict[Key, CodeType] = {}
    for code in _codes(compile(source, file, "exec", dont_inherit=True)):
        if not code.co_name.startswith("<"):
            found[code.co_qualname, seen[code.co_qualname]] = code
            seen[code.co_qualname] += 1
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
