"""A function is the same editor as long as its code and the constants that it uses are the same."""

from __future__ import annotations

import linecache
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from convergebench.function_identity import function_hash

STRENGTH = 1
CALLS = 0


def softened(radius: int) -> Callable[[Any, str], Any]:
    calls = 0

    def soften(image: Any, instruction: str) -> Any:
        nonlocal calls
        calls += 1
        return image, radius, calls

    return soften


def with_constant(image: Any, instruction: str) -> Any:
    global CALLS
    CALLS += 1
    return [STRENGTH for _ in (image, instruction)]


def helper() -> int:
    return 1


def with_helper(image: Any, instruction: str) -> Any:
    return helper()


def with_default(image: Any, instruction: str, *, radius: int = 1) -> Any:
    return image


class Softener:
    def __init__(self, radius: int) -> None:
        self.radius, self.calls = radius, 0

    def __call__(self, image: Any, instruction: str) -> Any:
        self.calls += 1
        return image

    def method(self, image: Any, instruction: str) -> Any:
        return image, self.radius


def test_enclosed_bound_and_kept_values_tell_functions_apart() -> None:
    assert function_hash(softened(1)) == function_hash(softened(1)) != function_hash(softened(2))
    assert function_hash(Softener(1)) == function_hash(Softener(1)) != function_hash(Softener(2))
    assert function_hash(Softener(1).method) == function_hash(Softener(1).method) != function_hash(Softener(2).method)
    assert function_hash(partial(with_default, radius=2)) == function_hash(partial(with_default, radius=2))
    assert function_hash(partial(with_default, radius=2)) != function_hash(partial(with_default, radius=3))
    assert function_hash(len) != function_hash(repr)


def test_default_values_constants_and_helpers_of_the_module_count(monkeypatch: Any) -> None:
    defaults, constant, helped = map(function_hash, (with_default, with_constant, with_helper))
    monkeypatch.setattr(with_default, "__kwdefaults__", {"radius": 2})
    assert function_hash(with_default) != defaults
    monkeypatch.setitem(globals(), "STRENGTH", 2)
    assert function_hash(with_constant) != constant
    monkeypatch.setitem(globals(), "helper", with_default)
    assert function_hash(with_helper) != helped


def test_counting_its_calls_does_not_make_another_function() -> None:
    for one in (softened(1), with_constant, Softener(1)):
        before = function_hash(one)
        one(None, "")
        assert function_hash(one) == before


def cell(text: str) -> Any:
    """What `found` is after code whose source can be looked up, as in a notebook."""
    linecache.cache[text] = (len(text), None, [text], text)
    names: dict[str, Any] = {}
    exec(compile(text, text, "exec"), names)
    return names["found"]


def test_two_lambdas_of_one_line_differ_and_the_rest_of_their_line_does_not_count() -> None:
    (same, other), (again, _) = (cell(f"found = [lambda a, b: a, lambda a, b: b]  # {number}") for number in (2, 3))
    assert function_hash(same) == function_hash(again) != function_hash(other)


def test_a_function_without_source_has_the_same_hash_in_every_process() -> None:
    code = (
        "from convergebench.function_identity import function_hash\n"
        "def edit(image, instruction):\n"
        "    return [(lambda one: one)(image) if instruction not in {'a', 'b', 'c', 'd'} else image]\n"
        "print(function_hash(edit))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
