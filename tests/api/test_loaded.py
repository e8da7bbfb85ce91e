"""`cb.load`: the tables of a run as frames, its pictures as PIL images, its plots, report and data set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import convergebench as cb
from tests.api.parts import PICTURES, blur, darker, quick_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> cb.LoadedRun:
    return quick_run(tmp_path_factory.mktemp("loaded") / "run", blur, darker)


CASE = "p0/flip-horizontal/0"


def test_the_tables_are_polars_frames_and_agree_with_what_the_report_writes(run: cb.LoadedRun) -> None:
    loaded = cb.load(run.root)
    page = loaded.report(plots=())
    assert page == run.root / "report" / "index.html"
    assert page.is_file()
    for name in ("ranking", "curves", "measurements", "steps", "chains"):
        written = pl.read_parquet(run.root / "tables" / f"{name}.parquet")
        assert loaded.table(name).select(written.columns).equals(written), name
    assert loaded.ranking.equals(loaded.tables["ranking"])
    assert loaded.curves.equals(loaded.tables["curves"])


def test_scores_have_one_row_per_editor_and_metric(run: cb.LoadedRun) -> None:
    whole = run.table("auc").filter(pl.col("group") == "all")
    assert run.scores["auc"].to_list() == whole["auc"].to_list()
    assert run.scores.select("editor", "metric").is_unique().all()
    assert {"low", "high", "n_cases", "n_missing"} <= set(run.scores.columns)


def test_an_unknown_table_says_which_there_are(run: cb.LoadedRun) -> None:
    with pytest.raises(cb.StudyError, match=r"no table 'rankings'; did you mean 'ranking'\?"):
        run.table("rankings")


def test_a_picture_comes_back_pixel_by_pixel(run: cb.LoadedRun) -> None:
    assert run.cases == sorted(f"{name}/flip-horizontal/0" for name in PICTURES)
    assert np.array_equal(np.asarray(run.image(CASE, 0)), np.asarray(PICTURES["p0"]))
    once = np.asarray(blur(PICTURES["p0"], ""))
    assert np.array_equal(np.asarray(run.image(CASE, 1, "blur")), once)
    assert np.array_equal(np.asarray(run.image(CASE, 1)), once), "without an editor, the first one's"
    assert not np.array_equal(np.asarray(run.image(CASE, 1, "darker")), once)


@pytest.mark.parametrize(
    ("case", "step", "editor", "said"),
    [
        (CASE, 9, None, "no image after step 9 of p0/flip-horizontal/0; it has steps 0 to 4"),
        ("p0/flip/0", 0, None, "no case 'p0/flip/0'"),
        (CASE, 0, "blurr", "'blurr' has no chain of p0/flip-horizontal/0; did you mean 'blur'"),
    ],
)
def test_a_picture_that_is_not_there_is_told_with_what_is(
    run: cb.LoadedRun, case: str, step: int, editor: str | None, said: str
) -> None:
    with pytest.raises(cb.StudyError, match=said):
        run.image(case, step, editor)


def test_a_strip_has_a_row_per_editor_and_a_picture_per_step(run: cb.LoadedRun) -> None:
    both, one = run.strip(CASE), run.strip(CASE, "blur")
    assert both.height == 2 * one.height
    assert one.width == 4 + 5 * (96 + 4), "small pictures are not enlarged"
    some = run.strip(CASE, "blur", steps=[0, 4], height=36)
    assert some.width == 4 + 2 * (48 + 4)
    first = np.asarray(some)[16 : 16 + 36, 4 : 4 + 48]
    assert abs(first.mean() - np.asarray(PICTURES["p0"]).mean()) < 5


def test_a_strip_of_no_pictures_is_refused(run: cb.LoadedRun) -> None:
    case = run.cases[0]
    with pytest.raises(cb.StudyError, match=r"has no image at steps \[99\]; it has steps 0 to 4"):
        run.strip(case, steps=[99])
    with pytest.raises(cb.StudyError, match="height = 0"):
        run.strip(case, height=0)


def test_kinds_of_plots_and_options_are_checked_before_the_work(run: cb.LoadedRun, tmp_path: Path) -> None:
    with pytest.raises(cb.StudyError, match="there is no format 'gif'"):
        run.report(plots=["gif"])
    with pytest.raises(cb.StudyError, match=r"measure\(\) has no option 'wrkers'; did you mean 'workers'"):
        run.measure("psnr", wrkers=1)
    with pytest.raises(cb.StudyError, match=r"export\(\) has no option 'sead'; did you mean 'seed'"):
        run.export(tmp_path / "out", sead=1)


def test_a_plot_is_a_figure_that_a_notebook_can_show(run: cb.LoadedRun) -> None:
    figure = run.plot("curves")
    assert isinstance(figure, Figure)
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert {"ranking", "curve-ssim"} <= set(run.plots)
    assert isinstance(run.plot("ranking"), Figure)
    with pytest.raises(cb.StudyError, match="there is no figure 'curve'"):
        run.plot("curve")


def test_a_notebook_shows_headline_ranking_and_a_strip_and_no_markup_of_strangers(tmp_path: Path) -> None:
    run = quick_run(tmp_path / "run", cb.FunctionEditor(blur, "<b>bold</b>", version="1"), rounds=1)
    shown = run._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in shown
    assert "<b>bold</b>" not in shown
    assert "data:image/jpeg;base64," in shown
    assert run.headline.startswith("<b>bold</b> scores")


def test_measuring_and_examining_add_to_the_run_and_are_seen_at_once(tmp_path: Path) -> None:
    run = quick_run(tmp_path / "run", blur, rounds=1)
    before = set(run.measurements["metric"])
    assert run.measure("psnr", workers=1, progress=False) is run
    assert set(run.measurements["metric"]) - before >= {"psnr"}
    assert run.table("labels").height == 0
    run.examine("texture-loss", workers=1, progress=False)
    assert run.table("labels").height == 3
    assert "load(…).measure(metrics=['psnr'])" in run.manifest.sessions[-2]["command"]


def test_a_run_becomes_a_data_set(run: cb.LoadedRun, tmp_path: Path) -> None:
    made = run.export(tmp_path / "set", "imagefolder")
    assert made.tally.pictures == 2 * 3 * (4 + 1)
    assert (tmp_path / "set" / "README.md").is_file()


def test_what_is_no_run_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(cb.StudyError, match="is not a run"):
        cb.load(tmp_path)
