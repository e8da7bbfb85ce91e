"""The LaTeX bundle of runs: it compiles as it is, whatever editors are called, and respects what is in its folder."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import polars as pl
import pytest

from convergebench.errors import StudyError
from convergebench.report.booktabs import escape, table
from convergebench.report.bundle import write
from convergebench.report.bundle.numbers import NUMBER, slug, slugs
from convergebench.report.bundle.tables import audit_latex, placed, run_tables
from convergebench.report.bundle.texts import BIB
from convergebench.report.bundle.write import check_folder, write_bundle
from convergebench.report.input import ReportInput
from convergebench.report.plots import charts, write_figures
from tests.factory_run import factory_run
from tests.report.copies import make_copies

ROOT = Path(__file__).parents[2]
HOSTILE = (
    r"\input{/etc/passwd}",
    "100% & $x_1^2$ #{~} \\end{tabular}",
    "[2cm] 你好 ☃ Ħ\x07 naïve",
    "* ]\\\\ \\hline --",
)
TEX = shutil.which("latexmk") is not None and shutil.which("pdflatex") is not None
needs_tex = pytest.mark.skipif(not TEX, reason="TeX is not installed")


@pytest.fixture
def few_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """One figure per run: drawing is most of the time."""
    monkeypatch.setattr(write, "charts", lambda given: islice(charts(given), 1))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> ReportInput:
    given = make_copies(tmp_path_factory.mktemp("hostile"), HOSTILE, variants=["replicate"])
    sources = {"anna": {"credit": r"50 % by \write18{rm -rf /} & Söhne", "licence": "CC_BY#4"}}
    title = r"\immediate\write18{touch owned} $\undefined_"
    return replace(given, manifest={**given.manifest, "sources": sources, "spec": {"title": title}})


def compiled(folder: Path, name: str = "main.tex") -> str:
    """The text of the PDF."""
    command = ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-3000:]
    log = (folder / name).with_suffix(".log").read_text(encoding="latin-1")
    assert "undefined" not in log
    assert "multiply defined" not in log
    assert "Overfull \\hbox" not in log, re.findall(r"Overfull \\hbox.*", log)
    pdf = (folder / name).with_suffix(".pdf")
    shown = (
        subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, text=True)
        if shutil.which("pdftotext")
        else None
    )
    return shown.stdout if shown else ""


@needs_tex
@pytest.mark.usefixtures("few_figures")
@pytest.mark.filterwarnings("ignore:Glyph")
def test_whatever_editors_are_called_it_compiles_and_runs_nothing(hostile: ReportInput, tmp_path: Path) -> None:
    write_bundle({r"my \run_%": hostile}, tmp_path / "paper", "cbench paper x")
    shown = compiled(tmp_path / "paper")
    assert "root:" not in shown
    assert not list(tmp_path.rglob("owned"))
    if shown:
        assert "/etc/passwd" in shown, "the name itself is printed"
        assert "[U+4F60]" in shown


@needs_tex
@pytest.mark.usefixtures("few_figures")
def test_several_runs_in_one_document_and_a_part_in_another(
    given: ReportInput, copies: ReportInput, tmp_path: Path
) -> None:
    write_bundle({"trips": given, "copies": copies}, tmp_path / "paper", "cbench paper trips copies")
    assert "copies" in (tmp_path / "paper" / "overview.tex").read_text(encoding="utf-8")
    compiled(tmp_path / "paper")
    (tmp_path / "mine.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs,longtable,adjustbox,graphicx}\\usepackage[T1]{fontenc}\n"
        "\\newcommand{\\cbroot}{paper}\\input{\\cbroot/macros}\\begin{document}\n"
        "Score \\cbvalue{trips.sim-blur.score}.\\input{\\cbroot/trips/tables/ranking}\\end{document}\n"
    )
    said = once(tmp_path, "mine.tex")
    assert "no number is called" not in said


def once(folder: Path, name: str) -> str:
    """What pdflatex says, in one pass."""
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@needs_tex
def test_the_tables_of_the_other_studies_compile(restored: ReportInput, tmp_path: Path) -> None:
    from convergebench.conductor.analyse import report_input

    factory_run(tmp_path / "made", count=4)
    made = run_tables(report_input(tmp_path / "made"))
    repaired = run_tables(restored)
    assert {"funnel", "success"} <= set(made)
    assert {"restoration_methods", "restoration_categories"} <= set(repaired)
    body = [placed(text, "a") for text in made.values()] + [placed(text, "b") for text in repaired.values()]
    head = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{lmodern,booktabs,longtable,adjustbox}"
    head += "\\usepackage[margin=25mm]{geometry}"
    text = "\n".join([head, "\\begin{document}", *body, "\\end{document}"])
    (tmp_path / "all.tex").write_text(text, encoding="utf-8")
    assert "Overfull \\hbox" not in once(tmp_path, "all.tex")


@needs_tex
def test_a_run_with_very_many_figures_compiles(given: ReportInput, tmp_path: Path) -> None:
    figures = tmp_path / "run" / "figures"
    (first,) = write_figures(islice(charts(given), 1), figures, ["pdf"])
    paths = [figures / f"figure-{number}.pdf" for number in range(70)]
    for path in paths:
        shutil.copy(first, path)
    (tmp_path / "section.tex").write_text(write.section(given, "run", [], [(path, path.stem) for path in paths]))
    (tmp_path / "all.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{graphicx}\\newcommand{\\cbroot}{.}\n"
        "\\begin{document}\\input{section}\\end{document}"
    )
    assert "dead cycles" not in once(tmp_path, "all.tex")


@needs_tex
def test_a_number_that_does_not_exist_is_seen(tmp_path: Path) -> None:
    (tmp_path / "macros.tex").write_text(NUMBER)
    (tmp_path / "a.tex").write_text(
        "\\documentclass{article}\\input{macros}\\begin{document}\\cbvalue{no.such}\\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "a.tex"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace").stdout
    assert "no number is called 'no.such'" in said


@pytest.mark.usefixtures("few_figures")
def test_numbers_are_those_of_the_ranking(given: ReportInput, tmp_path: Path) -> None:
    write_bundle({"trips": given}, tmp_path / "paper", "x")
    text = (tmp_path / "paper" / "macros.tex").read_text(encoding="utf-8")
    names = re.findall(r"\\csname cb@([^\\]+)\\endcsname\{", text)
    assert len(names) == len(set(names)) > 20
    for row in given.ranked:
        assert f"cb@trips.{slug(row['editor'])}.score\\endcsname{{{row['score']:.1f}}}" in text
    listed = (tmp_path / "paper" / "trips" / "numbers.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in listed for name in names)


@pytest.mark.usefixtures("few_figures")
def test_what_was_edited_by_hand_stays_and_the_rest_is_brought_up_to_date(given: ReportInput, tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    assert write_bundle({"trips": given}, folder, "x").kept == ()
    (folder / "main.tex").write_text("mine")
    ranking = folder / "trips" / "tables" / "ranking.tex"
    was = ranking.read_text(encoding="utf-8")
    other = replace(
        given, analysis=replace(given.analysis, ranking=given.analysis.ranking.with_columns(score=pl.lit(1.5)))
    )
    assert write_bundle({"trips": other}, folder, "x").kept == ("main.tex",)
    assert (folder / "main.tex").read_text() == "mine"
    assert ranking.read_text(encoding="utf-8") != was
    assert write_bundle({"trips": other}, folder, "x").kept == ("main.tex",), "still known as edited"


def test_another_s_folder_is_refused_and_left_alone(given: ReportInput, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "main.tex").write_text("years of work")
    with pytest.raises(StudyError, match="holds other files; name a new one"):
        write_bundle({"trips": given}, tmp_path / "thesis", "x")
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["main.tex"]
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="not a folder"):
        check_folder(tmp_path / "file")
    (tmp_path / "link").symlink_to(tmp_path / "thesis")
    with pytest.raises(StudyError, match="not a folder"):
        check_folder(tmp_path / "link")
    with pytest.raises(StudyError, match="this is the run itself"):
        check_folder(given.run, [given.run])
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "bundle.json").write_text("[1]")
    with pytest.raises(StudyError, match=r"bundle\.json cannot be read"):
        check_folder(tmp_path / "broken")


def test_a_kill_while_figures_are_drawn_leaves_a_folder_that_is_known(
    given: ReportInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> list[Path]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(write, "write_figures", killed)
        with pytest.raises(KeyboardInterrupt):
            write_bundle({"trips": given}, tmp_path / "paper", "x")
    assert check_folder(tmp_path / "paper") == {}


def test_a_first_cell_is_no_option_of_the_row_before() -> None:
    text = table("t", "ll", ["a", "b"], [["[1cm]", "x"], ["*", "y"]], "c")
    assert "    {}[1cm] & x" in text
    assert "    {}* & y" in text


def test_characters_that_tex_does_not_know_are_numbers() -> None:
    assert escape("né ΔE ≥ 2\u202f% 好\x00") == r"né \ensuremath{\Delta}E \ensuremath{\geq} 2\,\% {[U+597D]}{[U+0000]}"
    assert escape("a\nb") == "a b"


def test_a_tall_table_runs_over_pages_and_a_wide_one_is_fitted() -> None:
    short = placed(table("a_b", "lr", ["x", "y"], [["1", "2"]], "c"), "run")
    assert r"\label{tab:run-a-b}" in short
    assert r"\begin{adjustbox}{max width=\linewidth}" in short
    tall = placed(table("a_b", "lr", ["x", "y"], [[str(n), "2"] for n in range(60)], "c"), "run")
    assert r"\begin{longtable}{lr}" in tall
    assert tall.count(r"\toprule") == 2
    assert r"\begin{table}" not in tall


def test_names_are_stable_and_never_shared() -> None:
    assert slugs(["sim-jpeg", "Sim JPEG", "sim_jpeg", "好"]) == {
        "sim-jpeg": "sim-jpeg", "Sim JPEG": "sim-jpeg-2", "sim_jpeg": "sim-jpeg-3", "好": "x",
    }  # fmt: skip


def test_an_audit_becomes_a_table_and_a_broken_one_is_one_line(tmp_path: Path) -> None:
    assert audit_latex(tmp_path) == ""
    row = {"metric": "niqe", "status": "audited", "verdict": "often fooled", "n_failed": 3, "n_cells": 8}
    rows = [{**row, "low": 0.14, "high": 0.56}, {**row, "status": "not run", "low": None, "high": None}]
    (tmp_path / "audit.json").write_text(json.dumps({"metrics": rows}))
    assert r"niqe & often fooled & 3/8 & 14--56 \%" in audit_latex(tmp_path)
    (tmp_path / "audit.json").write_text('{"metrics": 3}')
    with pytest.raises(StudyError, match="is not the file of an audit"):
        audit_latex(tmp_path)


@dataclass(frozen=True)
class Foreign:
    """The result of a third party's analysis."""

    small_frame: pl.DataFrame


def test_a_third_party_s_small_frames_are_tables_too(given: ReportInput) -> None:
    frame = pl.DataFrame({"what": ["a_b"], "value": [0.5], "n": [None]})
    found = run_tables(replace(given, results={"mine": Foreign(frame)}))
    assert r"a\_b & 0.500 & --" in found["small_frame"]
    long = pl.DataFrame({"what": ["x"] * 100})
    assert "small_frame" not in run_tables(replace(given, results={"mine": Foreign(long)}))


def test_the_entry_to_cite_is_that_of_the_citation_file() -> None:
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'title: "{BIB.title}"' in cff
    assert f'name: "{BIB.author}"' in cff
