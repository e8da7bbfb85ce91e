"""What the viewer says of a run: the same as the run's own tables."""

from __future__ import annotations

import hashlib
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from convergebench.conductor.analyse import analyse_run
from convergebench.images import cells, parquet_bounds
from convergebench.report.chains import chain_key
from convergebench.serve.view.analysed import read_analysed
from convergebench.serve.view.pages import RUN_MODULES
from convergebench.store.frames import RunFrames
from tests.serve.view.conftest import ROUNDS
from tests.serve.view.site import ServedView


def images(root: Path) -> dict[tuple[str, str, int], str]:
    with closing(RunFrames(root)) as frames:
        rows = frames.steps().iter_rows(named=True)
        return {(row["editor"], row["case"], row["index"]): row["image"] for row in rows}


def test_the_list_has_what_each_run_is_and_how_far_it_came(served: ServedView, made: Path) -> None:
    found = served.data("/api/runs")
    assert found["folder"] == str(made.parent)
    (one,) = found["runs"]
    assert one["title"] == "Two editors"
    assert (one["name"], one["study"], one["editors"]) == ("small", "roundtrip", ["sim-jpeg", "sim-tint"])
    assert (one["chains"], one["finished"], one["failed"], one["steps"]) == (4, 4, 0, 4 * 2 * ROUNDS)
    assert (one["live"], one["problem"], one["report"]) == (False, "", None)


def test_a_run_has_its_editors_metrics_and_how_it_was_made(served: ServedView, made: Path) -> None:
    run = served.data("/api/runs/small")
    assert (run["title"], run["unit"], run["main"]) == ("Two editors", "round", "ssim")
    assert [one["name"] for one in run["editors"]] == ["sim-jpeg", "sim-tint"]
    assert run["editors"][0]["simulated"] is True
    assert run["editors"][0]["colour"] != run["editors"][1]["colour"]
    metrics = {one["name"]: one for one in run["metrics"]}
    assert (metrics["ssim"]["better"], metrics["psnr"]["unit"]) == ("up", "dB")
    assert ["noticeable", 0.9] in metrics["ssim"]["levels"]
    assert (run["steps"], run["planned_steps"], run["statuses"]) == (24, 24, {"finished": 4})
    assert run["made"]["hashes"]["editor sim-jpeg"] == analyse_run(made).manifest.editors["sim-jpeg"]["fingerprint"]


def test_every_image_is_a_row_with_its_own_values(served: ServedView, made: Path) -> None:
    rows = served.rows("/api/runs/small/images?limit=1000")
    stored = images(made)
    assert len(rows) == len([1 for _, _, step in stored if step > 0]) == 24
    measured = analyse_run(made).context.measurements
    for row in rows:
        data = (made / stored[row["editor"], row["case"], row["step"]]).read_bytes()
        assert row["image"] == hashlib.sha256(data).hexdigest()
        assert row["chain"] == chain_key(row["editor"], row["case"])
        assert row["leg"] == ("forward" if row["step"] % 2 else "backward")
        assert row["round"] == (row["step"] + 1) // 2
        for metric in ("ssim", "psnr"):
            known = measured.filter(
                (pl.col("editor") == row["editor"])
                & (pl.col("case") == row["case"])
                & (pl.col("step") == row["step"])
                & (pl.col("metric") == metric)
            )["value"].to_list()
            assert [row[metric]] == (known or [None])


def test_chains_have_the_numbers_of_the_report(served: ServedView, made: Path) -> None:
    rows = {(row["editor"], row["case"]): row for row in served.rows("/api/runs/small/chains")}
    worst = pl.read_parquet(made / "tables" / "worst.parquet")
    assert len(rows) == worst.height == 4
    for known in worst.iter_rows(named=True):
        row = rows[known["editor"], known["case"]]
        assert (row["auc"], row["last"], row["half_life"]) == (known["auc"], known["last"], known["half_life"])
        assert len(row["spark"]) == ROUNDS
        assert row["spark"][-1] == known["last"]
        assert row["first"] != row["final"]


def test_a_chain_has_every_step_with_its_image_words_and_values(served: ServedView, made: Path) -> None:
    row = served.rows("/api/runs/small/chains?where=editor:is:sim-tint")[0]
    chain = served.data(f"/api/runs/small/chains/{row['chain']}")
    assert [step["index"] for step in chain["steps"]] == list(range(2 * ROUNDS + 1))
    assert [step["leg"] for step in chain["steps"]] == ["source", *(["forward", "backward"] * ROUNDS)]
    assert chain["steps"][0]["image"] == row["first"]
    assert chain["steps"][-1]["image"] == row["final"]
    assert chain["steps"][1]["instruction"] == chain["forward"] != ""
    assert chain["steps"][2]["values"]["ssim"] == row["spark"][0]
    assert [one["editor"] for one in chain["siblings"]] == ["sim-jpeg"]
    assert {one["name"] for one in chain["metrics"]} >= {"ssim", "psnr"}
    assert next(one for one in chain["metrics"] if one["name"] == "ssim")["self"] == 1.0


def test_curves_are_those_of_the_report_while_it_fits_and_plain_means_after(runs: Path) -> None:
    with ServedView(runs) as site:
        known = pl.read_parquet(runs / "small" / "tables" / "curves.parquet")
        known = known.filter((pl.col("metric") == "ssim") & (pl.col("group") == "all"))
        found = site.data("/api/runs/small/curves?metric=ssim")
        assert "report" in found["note"]
        points = {(one["editor"], point["x"]): point for one in found["series"] for point in one["points"]}
        for row in known.iter_rows(named=True):
            point = points[row["editor"], row["round"]]
            assert (point["value"], point["low"], point["n"]) == (row["mean"], row["low"], row["n_cases"])
        shutil.rmtree(runs / "small" / "tables")
    with ServedView(runs) as site:
        found = site.data("/api/runs/small/curves?metric=ssim")
        assert "plain mean" in found["note"]
        rows = site.rows("/api/runs/small/images?where=leg:is:backward&where=editor:is:sim-jpeg&limit=100")
        for point in next(one for one in found["series"] if one["editor"] == "sim-jpeg")["points"]:
            values = [row["ssim"] for row in rows if row["round"] == point["x"]]
            assert point["value"] == pytest.approx(sum(values) / len(values))
            assert (point["n"], point["low"]) == (len(values), None)
        assert site.rows("/api/runs/small/chains")[0]["auc"] is None


def test_a_run_that_has_grown_since_its_report_shows_no_old_verdict(runs: Path) -> None:
    with sqlite3.connect(runs / "small" / "run.sqlite") as database:
        database.execute("update chains set status = 'open' where editor = 'sim-jpeg'")
    database.close()
    with ServedView(runs) as site:
        rows = {row["editor"]: row for row in site.rows("/api/runs/small/chains")}
        assert rows["sim-tint"]["auc"] is not None
        assert (rows["sim-jpeg"]["auc"], rows["sim-jpeg"]["verdict"]) == (None, None)
        assert rows["sim-jpeg"]["last"] is not None, "measured, not analysed"
        assert "plain mean" in site.data("/api/runs/small/curves?metric=ssim")["note"]


def test_a_new_run_is_listed_and_a_removed_one_is_gone(runs: Path) -> None:
    with ServedView(runs) as site:
        shutil.copytree(runs / "small", runs / "second run")
        assert {one["name"] for one in site.data("/api/runs")["runs"]} == {"small", "second run"}
        assert site.data("/api/runs/second%20run")["name"] == "second run"
        shutil.rmtree(runs / "second run")
        assert site.data("/api/runs/second%20run", 404)["error"]


def test_runs_of_several_places_keep_their_names_apart(runs: Path, made: Path) -> None:
    with ServedView(runs, made) as site:
        assert {one["name"] for one in site.data("/api/runs")["runs"]} == {"small", "small-2"}
        assert site.data("/api/runs/small-2")["name"] == "small-2"


def test_looking_leaves_no_trace_in_the_run(runs: Path) -> None:
    def content() -> dict[str, tuple[int, int]]:
        files = sorted(path for path in runs.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}

    before = content()
    with ServedView(runs) as site:
        chain = site.rows("/api/runs/small/chains")[0]
        for path in ("", "/live", "/images", f"/chains/{chain['chain']}", "/curves"):
            site.data(f"/api/runs/small{path}")
        for kind in ("image", "thumb"):
            assert site.client.get(f"/{kind}/small/{chain['final']}").status_code == 200
        assert site.client.get(f"/map/small/{chain['final']}/{chain['first']}/ssim.png").status_code == 200
        worn = site.client.get(f"/worn/small/{chain['final']}.png")
        assert worn.status_code in (200, 422)  # 64 pixels may be too few
    assert content() == before


def test_the_same_reply_is_not_sent_twice(served: ServedView) -> None:
    first = served.client.get("/api/runs/small/images")
    again = served.client.get("/api/runs/small/images", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = served.client.get("/api/runs/small/images?limit=3", headers={"if-none-match": first.headers["etag"]})
    assert other.status_code == 200


def test_the_files_of_the_page_are_served_with_the_charts(served: ServedView) -> None:
    page = served.client.get("/run/small")
    assert 'name="word"' in page.text
    assert "%WORD%" not in page.text
    ahead = re.findall(r'rel="modulepreload" href="([^"]+)"', page.text)
    assert len(ahead) == len(RUN_MODULES)
    assert all(served.client.get(address).status_code == 200 for address in ahead)
    for name, kind in (("app.js", "text/javascript"), ("report.css", "text/css"), ("vega.js", "text/javascript")):
        reply = served.client.get(f"/static/{name}")
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith(kind)
        again = served.client.get(f"/static/{name}", headers={"if-none-match": reply.headers["etag"]})
        assert again.status_code == 304
    assert len(reply.content) > 500_000
    assert b"vegaEmbed" in reply.content


def test_a_table_that_would_unpack_to_far_more_is_left_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of a received run are read as carefully as any other file of others."""
    columns = {"editor": "a" * 2**20, "metric": "m", "group": "", "round": 1, "mean": 1.0, "low": 0.0, "high": 2.0}
    frame = pl.DataFrame([{**columns, "n_cases": 3}] * 8)
    (tmp_path / "tables").mkdir()
    frame.write_parquet(tmp_path / "tables" / "curves.parquet", compression="zstd")
    assert read_analysed(tmp_path).curves.height == 8
    monkeypatch.setattr(parquet_bounds, "SMALL", 2**20)
    monkeypatch.setattr(parquet_bounds, "RATIO", 1)
    assert read_analysed(tmp_path).curves.is_empty()
    monkeypatch.undo()
    monkeypatch.setattr(cells, "LARGEST_TABLE", 2**20)
    assert read_analysed(tmp_path).curves.is_empty()
