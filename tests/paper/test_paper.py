"""The paper says what the committed tables say: its numbers, its sentences, its references, and that it builds."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest

from convergebench.claims.check import check as check_claims
from convergebench.claims.read import read_claims
from paper import check, prose
from paper.generate import generate
from paper.tables import ROOT, TableError, read_cell, read_tables

LARGEST_OVERFULL = 10.0
"""Points that a line may stick out of its column."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("paper") / "generated"
    return folder, generate(folder)


def test_every_sentence_is_listed_and_holds(made: tuple[Path, dict[str, str]]) -> None:
    folder, numbers = made
    assert check.faults(numbers, folder) == []
    assert len(prose.claims()) > 40


def test_every_macro_is_defined_and_used(made: tuple[Path, dict[str, str]]) -> None:
    assert check.unknown_macros(made[1]) == []


def test_numbers_in_prose_are_macros_and_results_are_claims() -> None:
    assert check.loose_numbers() == []


def test_every_citation_has_an_entry_and_every_entry_is_cited() -> None:
    assert check.citations() == []


def docs_copy(root: Path, page: str, old: str, new: str) -> Path:
    """The pages of the repository with one cell changed."""
    for name in ("results", "design"):
        shutil.copytree(ROOT / "docs" / name, root / "docs" / name)
    target = root / page
    text = target.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    target.write_text(text.replace(old, new), encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("page", "old", "new", "sentence"),
    [
        (
            "docs/results/hundred-steps.md",
            "| 20 | -0.65 (-0.80 … -0.49) |",
            "| 20 | 0.65 (0.49 … 0.80) |",
            "copies-order does not hold: The order of the five",
        ),
        (
            "docs/results/audit.md",
            "| `piqe` | cannot be told | 2/45 (1–27 %) |",
            "| `piqe` | never fooled | 0/45 (0–20 %) |",
            "audit-none does not hold: Of the published",
        ),
        (
            "docs/results/cheating.md",
            "| `idle` | returns its input | 100.0 | 12 | 0.0 |",
            "| `idle` | returns its input | 100.0 | 12 | 99.9 |",
            "cheating-score does not hold: Under ours",
        ),
    ],
)
def test_a_changed_table_names_the_sentence(page: str, old: str, new: str, sentence: str, tmp_path: Path) -> None:
    root = docs_copy(tmp_path / "repository", page, old, new)
    numbers = generate(tmp_path / "generated", root, drawn=False)
    assert any(fault.startswith(sentence) for fault in check.faults(numbers, tmp_path / "generated"))


def scrambled(folder: Path, into: Path, change: Callable[[pl.Expr], pl.Expr]) -> Path:
    """The tables with every number changed, except those that name a row (steps, rounds)."""
    (into / "tables").mkdir(parents=True)
    for path in (folder / "tables").glob("*.csv"):
        frame = pl.read_csv(path, infer_schema_length=None)
        numbers = [one for one in frame.select(cs.numeric()).columns if one not in ("after", "rounds", "crop", "round")]
        frame.with_columns(change(pl.col(numbers)) if numbers else []).write_csv(into / "tables" / path.name)
    return into


def test_no_claim_is_impossible_to_refute(made: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    changes: list[Callable[[pl.Expr], pl.Expr]] = [
        lambda cell: -cell - 1,
        lambda cell: cell + 1000,
        lambda cell: cell * 0,
        lambda cell: cell * (pl.len() - pl.int_range(pl.len())),  # the first rows grow, the last stay
    ]
    claims = read_claims(check.CLAIMS)
    never = {claim.id for claim in claims.claims}
    for number, change in enumerate(changes):
        other = scrambled(made[0], tmp_path / str(number), change)
        results = check_claims([claims], [other]).results
        assert len(results) == len(claims.claims)
        never -= {result.claim.id for result in results if result.verdict == "does not hold"}
    assert never == set()


def test_a_number_that_changes_only_in_its_value_shows_as_another_sentence(tmp_path: Path) -> None:
    root = docs_copy(tmp_path / "r", "docs/results/cheating.md", "| 25 % | 100 % | 25 % |", "| 25 % | 100 % | 25 % |")
    page = root / "docs/results/cheating.md"
    page.write_text(page.read_text(encoding="utf-8").replace("| 24.8 |", "| 24.9 |"), encoding="utf-8")
    numbers = generate(tmp_path / "generated", root, drawn=False)
    (fault,) = check.faults(numbers, tmp_path / "generated")
    assert fault.startswith("cheating-refuser: claims.toml has another sentence than the text")


def test_a_table_that_has_moved_is_named(tmp_path: Path) -> None:
    root = docs_copy(tmp_path, "docs/results/cheating.md", "<!-- cheating: begin -->", "<!-- cheats: begin -->")
    with pytest.raises(TableError, match=r"docs/results/cheating\.md has no place marked 'cheating'"):
        read_tables(root)


@pytest.mark.parametrize(
    ("text", "value", "low", "high", "of"),
    [
        ("0.89 (0.87 … 0.92)", 0.89, 0.87, 0.92, None),
        ("-0.65 (-0.80 … -0.49)", -0.65, -0.80, -0.49, None),
        ("11/60 (7–40 %)", 11, 7, 40, 60),
        ("0/12 (0/12 images, 0%–24%)", 0, 0, 24, 12),
        ("+2.7 (+0.1 to +6.9)", 2.7, 0.1, 6.9, None),
        ("5.6 % (1.0–25.8)", 5.6, 1.0, 25.8, None),
        ("89.7 !", 89.7, None, None, None),
        ("−11.4", -11.4, None, None, None),
        ("**25.08**", 25.08, None, None, None),
        ("3 of 9", 3, None, None, 9),
        ("> 10 (≥ 1)", float("inf"), None, None, None),
        ("4 (≥ 3)", 4, 3, None, None),
        ("2 (2)", 2, 2, 2, None),
        ("settles 100%", None, None, None, None),
        ("", None, None, None, None),
    ],
)
def test_cells_are_read(text: str, value: float, low: float, high: float, of: float) -> None:
    cell = read_cell(text)
    assert (cell.value, cell.low, cell.high, cell.of) == (value, low, high, of)


def test_every_table_says_how_it_was_made() -> None:
    for name, table in read_tables().items():
        text = (ROOT / table.page).read_text(encoding="utf-8")
        assert re.search(r"python -m \w+|cbench (run|audit|measure)", text), f"{name}: {table.page} names no command"


def test_the_figures_come_out_byte_for_byte(made: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    generate(tmp_path)
    for path in sorted(made[0].glob("figure-*.pdf")):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.skipif(shutil.which("latexmk") is None or shutil.which("pdflatex") is None, reason="TeX is not installed")
def test_it_builds_without_loose_ends(made: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    for name in ("convergebench.tex", "references.bib"):
        shutil.copy(prose.FOLDER / name, tmp_path / name)
    shutil.copytree(prose.FOLDER / "sections", tmp_path / "sections")
    shutil.copytree(made[0], tmp_path / "generated")
    command = ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", "convergebench.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "convergebench.log").read_text(encoding="latin-1")
    assert "undefined" not in log
    assert not re.search(r"LaTeX Warning: (Reference|Citation|File)", log)
    sticks_out = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert all(points <= LARGEST_OVERFULL for points in sticks_out), sticks_out
    pages = re.search(r"Output written on convergebench\.pdf \((\d+) pages", log)
    assert pages is not None
    assert 8 <= int(pages[1]) <= 10
