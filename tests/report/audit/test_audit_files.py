"""The audit's tables, figures, plain data and terminal."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from rich.console import Console

from convergebench.analysis.audit.result import SCHEMAS
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.audit.page import open_page
from convergebench.report.audit.plots import write_audit_plots
from convergebench.report.audit.summary import IN_TABLES, audit_json
from convergebench.report.audit.tables import audit_frames, write_audit_tables
from convergebench.report.audit.terminal import print_audit
from tests.report.audit.sample import make_audit


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> AuditReportInput:
    return make_audit(tmp_path_factory.mktemp("audited"))


def printed(given: AuditReportInput, width: int = 80, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    print_audit(given, Console(file=stream, width=width))
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_every_frame_is_a_table_that_loads_back_equal(audit: AuditReportInput, tmp_path: Path) -> None:
    written = write_audit_tables(audit, tmp_path)
    frames = audit_frames(audit)
    assert set(SCHEMAS) < set(frames)
    assert len(written) == 2 * len(frames)
    for name, frame in frames.items():
        assert_frame_equal(pl.read_parquet(tmp_path / f"{name}.parquet"), frame)
        again = pl.read_csv(tmp_path / f"{name}.csv", schema=frame.schema)
        assert_frame_equal(again, frame)


def test_plain_data_is_strict_and_holds_every_frame_but_single_pictures(audit: AuditReportInput) -> None:
    endless = audit.audit.confound.with_columns(ratio=pl.lit(math.inf), low=pl.lit(math.nan))
    given = replace(audit, audit=replace(audit.audit, confound=endless))
    found = json.loads(json.dumps(audit_json(given), allow_nan=False))
    assert set(SCHEMAS) - set(IN_TABLES) == set(SCHEMAS) & set(found)
    assert found["confound"][0]["ratio"] == "Infinity"
    assert found["confound"][0]["low"] is None
    assert found["finding"] == list(audit.audit.headline)
    assert found["settings"]["gaps"] == [5, 10]


def test_the_terminal_has_a_line_per_metric_at_80_columns(audit: AuditReportInput) -> None:
    text = printed(audit)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in text
    for row in audit.audit.metrics.filter(status="audited").to_dicts():
        (line,) = [one for one in lines if one.startswith(row["metric"] + " ")]
        assert row["verdict"] in line
        assert f" {row['n_failed']}/{row['n_cells'] - row['n_missing']} " in line
    assert "not run (2): MUSIQ, RALI: needs its weights" in text
    assert audit.audit.notes[0] in text


def test_the_terminal_keeps_to_80_columns_with_long_names_and_ascii(tmp_path: Path) -> None:
    names = ["a-metric-with-a-name-that-never-ends-at-all", "[bold]odd[/bold]"]
    given = make_audit(tmp_path, names=names, editors=("sim-noise",), images=("cup",), metrics=2, not_run=())
    text = printed(given, encoding="ascii")
    assert max(map(len, text.splitlines())) <= 80
    assert "[bold]odd[/bold]" in text
    assert "1 image" in text


def test_the_terminal_says_when_nothing_was_run(tmp_path: Path) -> None:
    text = printed(make_audit(tmp_path, metrics=0, additions=False))
    assert text.startswith("No metric was scored.")
    assert "not run (2)" in text


def test_figures_are_drawn_for_gaps_editors_traces_and_filters(tmp_path: Path) -> None:
    given = make_audit(tmp_path, metrics=1, gaps=(5,))
    risk = given.audit.filter_risk.filter(pl.col("percentile") < 10)
    given = replace(given, audit=replace(given.audit, filter_risk=risk))
    written = {path.name for path in write_audit_plots(open_page(given), tmp_path / "plots")}
    stems = ["failures", "failures-gap-5", "failures-editor-sim-jpeg", "failures-editor-sim-noise", "trace-arniqa"]
    stems.append("filter-risk-5")
    assert written == {f"{stem}.{kind}" for stem in stems for kind in ("png", "svg", "pdf")}
    heat = (tmp_path / "plots" / "failures.svg").read_text(encoding="utf-8")
    assert "sim-noise · cup" in heat
