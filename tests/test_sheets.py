"""Every CSV file: a spreadsheet works nothing out, and csv, polars and pandas read the same rows that were written."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from convergebench.claims.tables import _read_csv
from convergebench.cli.scoring import as_text
from convergebench.conductor import run_chains
from convergebench.conductor.analyse import report_input
from convergebench.conductor.analyse_audit import audit_report_input
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.engine.plan import Chain
from convergebench.failures.label_sheet import write_template
from convergebench.images.encode import encode_png
from convergebench.measuring.measure import measure
from convergebench.report.audit.tables import write_audit_tables
from convergebench.report.tables import write_tables
from convergebench.sheets import as_csv, guarded, unguarded, write_frame
from convergebench.store.run import Run
from convergebench.studies.analysis_settings import audit_settings
from convergebench.studies.spec import parse_spec
from convergebench.types import Capabilities, Edited, EditRequest, Limits

PACKAGE = Path(__file__).parents[1] / "src" / "convergebench"
CELLS = ["=1+1", "-2", "+3", "@SUM(A1)", "\ta", "\ra", "a\rb", "a\nb", "a\r\nb", '"q"', "a,b", "'=x", "＝1", "ok"]
TEXT = st.one_of(st.sampled_from(CELLS), st.text(st.characters(codec="utf-8", exclude_characters="\0")))
ALARMS = tuple("=+-@\t\r\n＝＋－＠")


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@given(st.lists(TEXT, min_size=1, max_size=8))
@example(CELLS)
def test_what_is_written_is_what_is_read_and_no_cell_is_a_formula(texts: list[str]) -> None:
    text = as_csv(["text", "number"], [{"text": cell, "number": -number} for number, cell in enumerate(texts)])
    heading, *rows = rows_of(text)
    assert heading == ["text", "number"]
    assert not [cell for cell, _ in rows if cell.startswith(ALARMS)]
    assert [unguarded(cell) for cell, _ in rows] == texts
    assert [number for _, number in rows] == [str(-number) for number in range(len(texts))], "numbers stay numbers"


@given(st.lists(TEXT, min_size=1, max_size=8))
@example(CELLS)
def test_a_frame_is_read_alike_by_csv_polars_and_pandas(texts: list[str]) -> None:
    frame = pl.DataFrame({"text": texts, "=name": [-float(number) for number in range(len(texts))]})
    buffer = io.BytesIO()
    write_frame(frame, buffer)  # type: ignore[arg-type]
    written = [str(guarded(cell)) for cell in texts]
    text = buffer.getvalue().decode()
    assert [row[0] for row in rows_of(text)[1:]] == written
    assert [cell or "" for cell in pl.read_csv(buffer.getvalue(), infer_schema=False)["text"]] == written
    panda = pd.read_csv(io.StringIO(text, newline=""), keep_default_na=False, dtype={"text": str})
    assert list(panda["text"]) == written
    assert list(panda["'=name"]) == [-float(number) for number in range(len(texts))]


def test_a_claim_reads_a_table_of_ours_as_it_was_before_the_marks(tmp_path: Path) -> None:
    frame = pl.DataFrame({"editor": CELLS, "value": [-1.0] * len(CELLS)})
    write_frame(frame, tmp_path / "x.csv")
    assert _read_csv(tmp_path / "x.csv").equals(frame)


def test_categories_are_texts_too(tmp_path: Path) -> None:
    kinds = (pl.Categorical, pl.Enum(["=a"]))
    write_frame(pl.DataFrame({str(kind): pl.Series(["=a"], dtype=kind) for kind in kinds}), tmp_path / "x.csv")
    assert rows_of((tmp_path / "x.csv").read_text())[1] == ["'=a", "'=a"]


def test_values_of_loose_files_whose_names_are_no_text_can_be_written() -> None:
    row = {"path": "\udcff=1.png", "metric": "psnr", "value": -1.5, "status": "ok"}
    text = as_text([row, {**row, "path": "=1.png", "value": None}], "csv")
    assert rows_of(text)[1:] == [["\\udcff=1.png", "psnr", "-1.5", "ok"], ["'=1.png", "psnr", "", "ok"]]
    assert text.encode("utf-8")


def test_nobody_else_writes_csv() -> None:
    words = ("csv.writer", "DictWriter", "write_csv")
    others = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if path.name != "sheets.py" and any(word in path.read_text(encoding="utf-8") for word in words)
    }
    assert not others


class Copying:
    """An editor of somebody else's, with a name that a spreadsheet would work out."""

    capabilities = Capabilities()
    limits = Limits()

    def __init__(self, name: str) -> None:
        self.name = self.fingerprint = name

    async def edit(self, request: EditRequest) -> Edited:
        return Edited(request.image, "image/png", "copy")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run in which an editor and a picture have names that a spreadsheet would work out."""
    root = tmp_path_factory.mktemp("run")
    picture = np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8)
    (root / "suite").mkdir()
    for name in ("=cmd()", "-1"):
        (root / "suite" / f"{name}.png").write_bytes(encode_png(picture + len(name)))
    content: dict[str, Any] = {
        "study": "replicate",
        "editors": ["sim-jpeg"],
        "images": {"suite": str(root / "suite")},
        "replicate": {"steps": 2, "runs": 1},
        "measure": {"metrics": ["ssim", "rmse", "piqe"]},
        "analysis": {"draws": 100, "permutations": 99, "audit": {"draws": 100}},
    }
    prepared = prepare(parse_spec(content))
    editors = {name: Copying(name) for name in ('=HYPERLINK("x")', "@b")}
    chains = tuple(Chain(name, one.case, one.study, one.rounds) for name in editors for one in prepared.chains)
    prepared = replace(prepared, editors=editors, chains=chains, options={name: {} for name in editors})
    with Run.create(root / "run") as opened:
        begin(opened, prepared)
        run_chains(opened, prepared.editors, prepared.chains)
        measure(opened, prepared.metrics, align_mode="auto", workers=1)
    return root / "run"


def test_no_csv_file_of_a_run_holds_a_formula(run: Path, tmp_path: Path) -> None:
    given_report = report_input(run)
    written = [path for path in write_tables(given_report, tmp_path / "tables") if path.suffix == ".csv"]
    audit = audit_report_input([run], audit_settings(given_report.manifest["spec"]), wanted=["piqe"], not_run={})
    written += [path for path in write_audit_tables(audit, tmp_path / "audit") if path.suffix == ".csv"]
    write_template(tmp_path / "labels.csv", [("=a", "b\rc", "static"), ("@b", "c,d", "static")])
    marked = 0
    for path in [*written, tmp_path / "labels.csv"]:
        heading, *rows = rows_of(path.read_bytes().decode())
        assert all(len(row) == len(heading) for row in rows)
        for row in rows:
            for cell in row:
                marked += cell.startswith("'=")
                assert not cell.startswith(ALARMS) or float(cell) <= 0, f"{path.name}: {cell!r}"
    assert len(written) > 20
    assert marked > 20, "the editor's name stands in nearly every table"
