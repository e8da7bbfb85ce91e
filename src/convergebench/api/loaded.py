"""A run as Python sees it: its tables as polars frames, its pictures as PIL images, its report, its export."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cached_property
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from convergebench.api.calling import call, metric_names, options_of, recorded, several
from convergebench.api.notebook import default_observer
from convergebench.api.strips import MOST_STEPS, StripRow, draw_strip, evenly
from convergebench.conductor.alignment import check_alignment
from convergebench.conductor.analyse import AnalysedRun, analyse_run, report_input
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import MeasureOptions, check_plots
from convergebench.errors import StudyError
from convergebench.images.pictures import open_picture
from convergebench.registry import suggest
from convergebench.store.images import open_images
from convergebench.store.run import require_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image

    from convergebench.api.viewing import RunViewer
    from convergebench.datasets.export import Exported
    from convergebench.store.manifest import Manifest

SHOWN = ("rank", "editor", "score", "low", "high", "closeness", "half_life", "n_cases", "n_missing")
"""Columns of the ranking that a notebook shows."""


class LoadedRun:
    """A run directory; tables are read when first used, and `refresh` reads them again."""

    def __init__(self, root: str | Path, *, align: str | None = None, stopped: str | None = None) -> None:
        self.root = require_run(Path(root))
        self.stopped = stopped
        """Why the run ended before its time, or None; make the same call to continue."""
        self._align = check_alignment(align)

    def refresh(self) -> None:
        """Read the run anew: it may have grown."""
        self.__dict__.pop("analysed", None)

    @cached_property
    def analysed(self) -> AnalysedRun:
        """The run's tables with everything that is computed from them."""
        found = analyse_run(self.root, self._align)
        for note in found.notes:
            default_observer(progress=False).note(f"note: {note}")
        return found

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table of the run by name; docs/reference/tables.md explains each column."""
        context = self.analysed.context
        found = {"measurements": context.measurements, "chains": context.chains, "steps": context.steps}
        found |= {"labels": context.labels, "spending": context.spending}
        for result in context.results.values():
            found |= result.tables()
        return found

    def table(self, name: str) -> pl.DataFrame:
        """One of the tables."""
        found = self.tables
        if name not in found:
            raise StudyError(f"there is no table '{name}'{suggest(name, found)} (there are: {', '.join(found)})")
        return found[name]

    @property
    def ranking(self) -> pl.DataFrame:
        """One row per editor, best first: score with interval, rank, coverage and counts."""
        return self.analysed.comparison.ranking

    @property
    def scores(self) -> pl.DataFrame:
        """One row per editor and metric: the mean over all rounds (area under the curve) with its interval."""
        return self.analysed.comparison.auc.filter(pl.col("group") == "all").drop("group")

    @property
    def curves(self) -> pl.DataFrame:
        """One row per editor, metric, group of cases and round: mean with interval and counts."""
        return self.analysed.comparison.curves

    @property
    def steps(self) -> pl.DataFrame:
        """One row per picture, the source included: instruction, file, size, seconds, dollars, status."""
        return self.analysed.context.steps

    @property
    def measurements(self) -> pl.DataFrame:
        """One row per value of a metric; a value that cannot be had has a status that says why."""
        return self.analysed.context.measurements

    @property
    def headline(self) -> str:
        """The findings in a few sentences."""
        return " ".join(self.analysed.comparison.headline)

    @property
    def manifest(self) -> Manifest:
        """How the run was made."""
        return self.analysed.manifest

    @property
    def editors(self) -> list[str]:
        """Names of the editors."""
        return list(self.analysed.manifest.editors)

    @property
    def cases(self) -> list[str]:
        """Ids of the cases."""
        return sorted(self.steps["case"].unique())

    def image(self, case: str, step: int, editor: str | None = None) -> Image.Image:
        """The picture after this step of a case (0 = the source); without an editor, the first one's."""
        rows = self._steps_of(case, editor or self._editors_of(case)[0])
        found = rows.filter(pl.col("index") == step)
        if not found.height or found["image"][0] is None:
            files = rows.filter(pl.col("image").is_not_null())["index"].to_list()
            raise StudyError(f"there is no image after step {step} of {case}; it has {_range(files)}")
        return self._picture(found["image"][0])

    def strip(
        self, case: str, editor: str | None = None, *, steps: Sequence[int] | None = None, height: int = 160
    ) -> Image.Image:
        """The pictures of a case side by side, a row per editor; without `steps`, some of them at even distances."""
        if height < 1:
            raise StudyError(f"height = {height!r}: give a number of pixels, 1 or more")
        rows = []
        for name in [editor] if editor else self._editors_of(case):
            frame = self._steps_of(case, name).filter(pl.col("image").is_not_null())
            files = dict(frame.select("index", "image").iter_rows())
            chosen = [one for one in steps if one in files] if steps is not None else evenly(sorted(files), MOST_STEPS)
            if not chosen:
                raise StudyError(f"{case} has no image at steps {list(steps or ())}; it has {_range(sorted(files))}")
            rows.append(StripRow(name, tuple((f"{one}", self._picture(files[one])) for one in chosen)))
        return draw_strip(rows, height)

    def plot(self, name: str = "curves") -> Figure:
        """A figure of the report as matplotlib draws it: `curves` (the headline metric), or a name of `plots`."""
        from convergebench.report.plots import figure

        drawn = figure(name, report_input(self.root, self._align))
        # a notebook shows figures of pyplot alone unless they can show themselves
        drawn._repr_png_ = lambda: _png(drawn)  # type: ignore[attr-defined]
        return drawn

    @property
    def plots(self) -> list[str]:
        """Names of the figures that `plot` draws."""
        from convergebench.report.plots import charts

        return [name for name, _ in charts(report_input(self.root, self._align))]

    def report(self, *, plots: Sequence[str] = ("png", "svg", "pdf")) -> Path:
        """Write the report, its plots and tables; gives the page."""
        from convergebench.conductor.reporting import report

        kinds = several(plots, "plots")
        check_plots(kinds)
        return report(self.root, self._align, plots=kinds, observer=default_observer(progress=False)).page

    def view(self, *, height: int = 760) -> RunViewer:
        """Serve the viewer of this run to this computer, live while the run goes on.

        A notebook shows it below the cell, `height` pixels high; elsewhere open its `url`, which the
        interpreter shows. `close()` stops it.
        """
        from convergebench.api.viewing import RunViewer

        if height < 1:
            raise StudyError(f"height = {height!r}: give a number of pixels, 1 or more")
        return RunViewer(self.root, height=height)

    def measure(self, *metrics: Any, progress: bool | Observer = True, **options: Any) -> LoadedRun:
        """Fill in what the run lacks of these metrics (names or functions), or of its own.

        `options` are those of `MeasureOptions`.
        """
        from convergebench.conductor.measuring import measure

        given = options_of(MeasureOptions, options, "measure()")
        chosen = tuple(name for one in metrics for name in metric_names(one, "metrics"))
        work = recorded(
            "load(…).measure",
            {"metrics": chosen},
            lambda: measure(self.root, chosen, self._align, given, default_observer(progress)),
        )
        self.stopped = call(work).stopped
        self.refresh()
        return self

    def examine(self, *detectors: str, workers: int | None = None, progress: bool | Observer = True) -> LoadedRun:
        """Look for failures that have names, by these detectors or by all."""
        from convergebench.conductor.examining import examine, faults_line

        observer, given = default_observer(progress), MeasureOptions(workers=workers)
        work = recorded(
            "load(…).examine",
            {"detectors": detectors},
            lambda: examine(self.root, detectors or ("all",), workers=given.workers, observer=observer),
        )
        done = call(work)
        if done.faults:
            observer.note(faults_line(done))
        self.refresh()
        return self

    def export(self, out: str | Path, form: str = "parquet", **options: Any) -> Exported:
        """Write the run as a data set (banana100, imagefolder, parquet, webdataset, hf, pico) into a new folder."""
        from convergebench.conductor.exporting import export
        from convergebench.datasets.export import ExportOptions

        given = options_of(ExportOptions, {"form": form, **options}, "export()")
        return call(lambda: export(self.root, Path(out), given))

    def _editors_of(self, case: str) -> list[str]:
        found = self.steps.filter(pl.col("case") == case)["editor"].unique(maintain_order=True).to_list()
        if not found:
            raise StudyError(f"there is no case '{case}'{suggest(case, self.cases)} (see .cases)")
        return found

    def _steps_of(self, case: str, editor: str) -> pl.DataFrame:
        known = self._editors_of(case)
        if editor not in known:
            raise StudyError(
                f"'{editor}' has no chain of {case}{suggest(editor, known)} (there are: {', '.join(known)})"
            )
        return self.steps.filter((pl.col("case") == case) & (pl.col("editor") == editor)).sort("index")

    def _picture(self, file: str) -> Image.Image:
        return open_picture(open_images(self.root).read(file))

    def __repr__(self) -> str:
        return f"LoadedRun({str(self.root)!r})"

    def _repr_html_(self) -> str:
        """The headline, the ranking and one case, for a notebook."""
        ranking = self.ranking.select(one for one in SHOWN if one in self.ranking.columns)
        with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, float_precision=1):
            table = ranking._repr_html_()
        parts = [f"<p><b>{escape(str(self.root))}</b>: {escape(self.headline)}</p>", table]
        if self.cases:
            data = BytesIO()
            self.strip(self.cases[0], height=96).save(data, "JPEG", quality=85)
            parts += [
                f"<p>{escape(self.cases[0])}, step by step</p>",
                f'<img alt="pictures of one case" src="data:image/jpeg;base64,{b64encode(data.getvalue()).decode()}">',
            ]
        return "\n".join(parts)


def _range(steps: Sequence[int]) -> str:
    return f"steps {steps[0]} to {steps[-1]}" if steps else "none"


def _png(figure: Figure) -> bytes:
    data = BytesIO()
    figure.savefig(data, format="png", dpi=110)
    return data.getvalue()
