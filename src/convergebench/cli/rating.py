"""What `cbench audit` does between the command and the page: measure what is missing, score again, gather, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from convergebench.analysis.audit.settings import AuditSettings
    from convergebench.cli.measuring import How
    from convergebench.roles.base import Role
    from convergebench.store.manifest import Manifest
    from convergebench.store.run import Run

NO_SCORE = "it was measured, but no score came of it; the same command tries again"
REPEATED = 2
"""Pictures that are scored again by default."""


@dataclass(frozen=True)
class Wish:
    """What an audit should do beside its constants."""

    metrics: tuple[str, ...] = ()
    """As typed; empty: those of the runs' studies, else the whole set."""
    measure: bool = True
    repeat: int | None = None
    opinions: Path | None = None
    out: Path | None = None
    title: str = ""
    as_json: bool = False
    typed: Mapping[str, Any] = field(default_factory=dict)
    """Constants in place of the study's; None: not typed."""


class Rating:
    """One audit under way."""

    def __init__(
        self,
        named: Mapping[str, Path],
        manifests: Mapping[str, Manifest],
        settings: AuditSettings,
        wanted: Sequence[str],
        wish: Wish,
        how: How,
    ) -> None:
        from convergebench.cli.measuring import spec_with, who_answers
        from convergebench.engine.audited import runnable
        from convergebench.engine.opinions import read_opinions

        self.named, self.manifests, self.settings, self.wanted = named, manifests, settings, wanted
        self.wish, self.how = wish, how
        self.stopped: str | None = None
        self._spent = 0.0
        specs = {name: spec_with(manifest, None, how) for name, manifest in manifests.items()}
        self._precision = next(iter(specs.values()))["measure"].get("precision", "float32")
        who = {name: who_answers(manifest, how) for name, manifest in manifests.items()}
        self._roles: dict[str, Mapping[str, Role]] = {name: one.roles for name, one in who.items()}
        refused = {line for one in who.values() for line in one.refused.values()}
        split = {name: runnable(wanted, one.roles, one.refused) for name, one in who.items()}
        self._able = {name: able for name, (able, _) in split.items()}
        self._waiting = {
            metric: line for _, missing in split.values() for metric, line in missing.items() if line in refused
        }
        self._anywhere = [one for one in wanted if any(one in able for able in self._able.values())]
        first = next(iter(split.values()))[1]
        self._not_run = {one: first[one] for one in wanted if one not in self._anywhere}
        # whoever mistypes a path or a name hears of it before the work
        damage_metric(settings.damage)
        self._rated = read_opinions(wish.opinions) if wish.opinions is not None else []

    def done(self, target: Path) -> tuple[Path, dict[str, Any]]:
        """The page that was written, and the findings as plain data."""
        from convergebench.cli.console import PlainConsole
        from convergebench.report.audit.assemble import assemble_audit
        from convergebench.report.audit.summary import audit_json
        from convergebench.report.audit.terminal import print_audit
        from convergebench.report.audit.write import write_audit

        self._tell_not_run()
        if self.wish.measure:
            from convergebench.engine.audited import require_some

            require_some(self._anywhere, self._not_run)
            self._measure()
            self._not_run |= dict.fromkeys(self._anywhere, NO_SCORE)
        opinions, repeats = self._opinions(), self._repeats()
        given = assemble_audit(
            list(self.named.values()),
            self.settings,
            wanted=self.wanted,
            not_run=self._not_run,
            repeats=repeats,
            opinions=opinions,
            title=self.wish.title or self._title(),
        )
        page = write_audit(given, target)
        if not self.wish.as_json:
            print_audit(given, PlainConsole())
        return page, {"page": str(page), **audit_json(given)}

    def _tell_not_run(self) -> None:
        from convergebench.cli.display import say_beside
        from convergebench.errors import StudyError
        from convergebench.metrics import SETS

        missing = self._not_run
        named = [one for one in missing if one in self.wish.metrics and one not in SETS]
        if self.wish.measure:
            for one in self.wish.metrics:
                if one in self._waiting:  # whoever asks for it by name shall not find it left out
                    raise StudyError(self._waiting[one])
            for line in sorted(set(self._waiting.values())):
                say_beside(f"note: {line}")
        for one in named:
            say_beside(f"note: {one} is not run: {missing[one]}")
        others = [one for one in missing if one not in named]
        if others and self.wish.measure:
            say_beside(
                f"note: {len(others)} of {len(self.wanted)} metrics cannot run here and are listed as not run: "
                f"{', '.join(others)} (cbench list metrics says what they lack)"
            )

    def _measure(self) -> None:
        from convergebench.cli.measuring import extend_and_fill
        from convergebench.engine.singles import rate_every_picture
        from convergebench.store.run import Run

        for name, path in self.named.items():
            with Run.existing(path) as opened:
                rate_every_picture(opened)
                metrics = [*self._able[name], *damage_metrics(opened, self.settings.damage)]
                _, stopped, _ = extend_and_fill(opened, metrics, None, self.how)
                self._spent += opened.journal.dollars()
            self.stopped = self.stopped or stopped

    def _opinions(self) -> pl.DataFrame | None:
        if not self._rated:
            return None
        import polars as pl

        from convergebench.cli.display import watch
        from convergebench.cli.measuring import where
        from convergebench.engine.opinions import Opinion, score_opinions
        from convergebench.engine.progress import Progress

        progress, metrics = Progress(), self._affordable()
        left = None if self.how.max_cost is None else max(0.0, self.how.max_cost - self._spent)
        with watch("opinions", progress, unit="values", of="lots"):
            rows = list(
                score_opinions(
                    self._rated,
                    metrics,
                    {name: role for roles in reversed(self._roles.values()) for name, role in roles.items()},
                    place=where(metrics, self.how.device, self._precision),
                    workers=self.how.workers,
                    max_cost=left,
                    progress=progress,
                )
            )
        return pl.DataFrame(rows, schema=list(Opinion._fields), orient="row")

    def _affordable(self) -> list[str]:
        """The metrics to hold against people's ratings; nobody pays for questions after measuring was stopped."""
        from convergebench.cli.display import say_beside
        from convergebench.engine.measure import sorted_out
        from convergebench.report.wording import count

        asked = [metric.facts.name for metric in sorted_out(self._anywhere)[1]]
        if not asked:
            return self._anywhere
        names = ", ".join(asked)
        if self.stopped is not None or not self.wish.measure:
            why = "--no-measure asks nobody" if self.stopped is None else "measuring stopped"
            say_beside(f"note: the rated pictures are not put to {names}, since {why}")
            return [one for one in self._anywhere if one not in asked]
        pictures = count(len(self._rated), "rated picture")
        say_beside(f"note: {pictures} put to {names} anew: answers about them are not kept for the next audit")
        return self._anywhere

    def _repeats(self) -> pl.DataFrame | None:
        count = self.wish.repeat
        if count is None:
            count = REPEATED if self.wish.measure else 0
        if not count:
            return None
        import polars as pl

        from convergebench.cli.display import say, say_beside
        from convergebench.cli.measuring import where
        from convergebench.engine.measure import sorted_out
        from convergebench.engine.repeatability import Repeat, repeats, samples_of
        from convergebench.report.wording import count as how_many

        pixels, _ = sorted_out(self._anywhere)
        samples = samples_of(self.named, count)
        gone = [one for one in samples if not one.file.is_file()]
        if gone:
            say_beside(
                f"note: {len(gone)} of {how_many(len(samples), 'picture')} to be scored again are not on this disk"
                + ("" if len(gone) < len(samples) else "; whether scores repeat stays unknown")
            )
            samples = [one for one in samples if one not in gone]
        if not samples or not pixels:
            return None
        many = how_many(len(samples), "picture"), how_many(len(pixels), "metric")
        say(f"scoring   {many[0]} again by {many[1]}, to see whether scores repeat")
        rows = repeats(samples, pixels, where(pixels, self.how.device, self._precision))
        return pl.DataFrame(rows, schema=list(Repeat._fields), orient="row", infer_schema_length=None)

    def _title(self) -> str:
        titles = {str(one.spec.get("title") or "") for one in self.manifests.values()}
        return titles.pop() if len(titles) == 1 else ""


def damage_metric(named: str) -> str:
    """The metric that says how damaged a picture is, or what is wrong with the one that is named."""
    from convergebench.errors import StudyError
    from convergebench.metrics import load_metric
    from convergebench.store.rubrics import is_file

    metric = named.removesuffix("-first") or "ssim"
    if is_file(metric):  # a rubric asks about one picture or an edit; a run's word must not have a file read
        raise StudyError("damage names a rubric file, which compares nothing with the source; name ssim, lpips or such")
    facts = load_metric(metric).facts
    if facts.kind not in ("full-reference", "semantic"):
        raise StudyError(f"damage = '{named}' compares nothing with the source; name ssim, lpips or the like")
    if facts.better == "neither":
        raise StudyError(f"damage = '{named}' does not say which pictures are worse; name ssim, lpips or the like")
    return metric


def damage_metrics(run: Run, named: str) -> list[str]:
    """What must be measured so that damage is known: the named metric, or SSIM where nothing compares with a source."""
    from convergebench.metrics import load_metric
    from convergebench.store.rubrics import is_file

    metric = damage_metric(named)
    measured = {name for (name,) in run.journal.rows("select distinct metric from measurements")}
    names = [name for name in run.manifest.metrics if not is_file(name)]
    known = [name for name in names if load_metric(name).facts.kind == "full-reference"]
    there = metric in measured if named else any(name in measured for name in known)
    return [] if there else [metric]
