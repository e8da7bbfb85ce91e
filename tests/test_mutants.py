"""The faults that `make mutants` makes: one place each, seen by a test or listed with a reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.mutants.__main__ import equivalents, sample
from benchmarks.mutants.covering import ROOMS, far, files, near
from benchmarks.mutants.mutate import mutants

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("x = a < b", {"x = (a <= b)", "x = (a >= b)"}),
        ("x = a is None", {"x = (a is not None)"}),
        ("x = a + 2", {"x = (a - 2)", "x = a + 3"}),
        ("x = 'ä' + a", set()),
        ("x = a and not b", {"x = (a or not b)", "x = a and (b)"}),
        ("x = -a if b else c", {"x = (c if b else -a)", "x = (a) if b else c", "x = -a if (not b) else c"}),
        ("if f(x): x += 0.5", {"if (not f(x)): x += 0.5", "if f(x): x -= 0.5", "if f(x): x += 0.75"}),
        ("def f(x: int = 1) -> 'a < b': return x", {"def f(x: int = 2) -> 'a < b': return x"} | {
            "def f(x: int = 1) -> 'a < b': return None"
        }),
        ("raise E(f'{x + 1} of {y}')", set()),
    ],
)  # fmt: skip
def test_the_faults_of_a_line(text: str, faults: set[str]) -> None:
    assert {one.applied(text) for one in mutants(Path("x.py"), text)} == faults


def test_columns_count_bytes_and_lines_are_kept() -> None:
    text = "words = 'größer'; more = a < b\nlast = (a\n    - b)\n"
    found = [one.applied(text) for one in mutants(Path("x.py"), text)]
    assert "words = 'größer'; more = (a <= b)\nlast = (a\n    - b)\n" in found
    assert "words = 'größer'; more = a < b\nlast = ((a + b))\n" in found


@pytest.mark.parametrize("room", ROOMS)
def test_a_sample_is_the_same_for_the_same_seed_and_every_fault_is_python(room: str) -> None:
    chosen = sample(room, 5, 3)
    assert len(chosen) == 5
    assert chosen == sample(room, 5, 3) != sample(room, 5, 4)
    for one in chosen:
        changed = one.applied((ROOT / one.file).read_text(encoding="utf-8"))
        assert changed != (ROOT / one.file).read_text(encoding="utf-8")
        ast.parse(changed)


def test_the_tests_of_the_same_name_come_first() -> None:
    file = Path("src/convergebench/analysis/area.py")
    assert file in files(ROOT, "analysis")
    tests = near(ROOT, "analysis", file)
    assert tests[0] == "tests/analysis/test_area.py"
    assert not set(tests) & set(far(ROOT, "analysis", tests))


def test_a_fault_listed_as_harmless_is_in_the_code() -> None:
    """Else the list would excuse something that nobody looked at."""
    for file, line, after in equivalents():
        known = mutants(Path(file), (ROOT / file).read_text(encoding="utf-8"))
        assert (file, line, after) in {one.key for one in known}, f"{file}: {line}"
