"""`cbench factory`: what a factory would make and cost, and whether people and other judges agree with its judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convergebench.analysis.factory.rater_consistency import RaterConsistency
    from convergebench.conductor.factory_judges import JudgesCompared
    from convergebench.conductor.factory_plan import Expected, FactoryForecast

app = typer.Typer(
    help="Editing data: plan a run; compare its judge with people and with other judges.", no_args_is_help=True
)


@app.command("plan")
def plan(
    study: Annotated[Path, typer.Argument(help="Study file of a factory study, or a shipped study's name.")],
    success: Annotated[
        float | None, typer.Option(help="Share of attempts that you expect to be accepted [default: 0.75]")
    ] = None,
    pilot: Annotated[
        Path | None,
        typer.Option("--from", help="A factory run to take success rates and prices from, instead of --success."),
    ] = None,
    suite: Annotated[str | None, typer.Option(help="Images to use instead of the study's.")] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Use at most this many images; 0 = all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print sources, edit types, attempts, rows, dollars and hours; makes no call and costs nothing."""
    import json
    from dataclasses import asdict

    from convergebench.cli.display import say
    from convergebench.conductor.factory_plan import ASSUMED, assumed, forecast_factory, pilot_of
    from convergebench.conductor.prepare import prepare
    from convergebench.errors import StudyError
    from convergebench.studies.factory_table import FactoryTable
    from convergebench.studies.shipped import find_study
    from convergebench.studies.spec import parse_spec, read_spec

    if success is not None and pilot is not None:
        raise StudyError("--success and --from both set how often edits succeed; use only one of them")
    spec = read_spec(find_study(study))
    if not isinstance(spec.parameters, FactoryTable):
        raise StudyError(f"{study} is a file of the study '{spec.study}'; type: cbench run {study} --dry-run")
    images = {
        name: value
        for name, value in {"suite": suite, "limit": 0 if suite and limit is None else limit}.items()
        if value is not None
    }
    if images:
        content = spec.model_dump(mode="json", by_alias=True)
        spec = parse_spec({**content, "images": {**content["images"], **images}}, where=str(study))
    attempts = spec.parameters.attempts  # type: ignore[attr-defined]
    found = pilot_of(pilot, attempts) if pilot else assumed(ASSUMED if success is None else success, attempts)
    forecast = forecast_factory(prepare(spec), found)
    if as_json:
        say(json.dumps({**asdict(forecast), "dollars": forecast.dollars}, ensure_ascii=False, indent=1))
        return
    for line in _lines(forecast):
        say(line)


def _lines(plan: FactoryForecast) -> list[str]:
    from convergebench.progress import duration

    counts = sorted(plan.by_type.values())
    span = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    cases = f"{plan.cases:,} cases: {plan.sources:,} images, {len(counts)} edit types with {span} cases each"
    width = max(len(row.name) for row in plan.rows)
    total = plan.dollars
    money = "at prices that are only partly known" if total is None else f"${total:,.2f}"
    each = "" if not total or not plan.accepted else f", ${total / plan.accepted:,.3f} per accepted edit"
    return [
        f"{cases}, up to {plan.attempts} attempts; {plan.sessions:,} sessions",
        f"{'':<{width}}  {'calls':>11} {'at most':>11} {'dollars':>11} {'at most':>11}",
        *(_line(row, width) for row in plan.rows),
        f"makes about {plan.accepted:,.0f} rows for supervised training, {plan.preferences:,.0f} preference rows and "
        f"{plan.whole_sessions:,.0f} whole sessions",
        f"costs about {money}{each}; at most about {duration(3600 * plan.hours)} of editing",
        f"({plan.origin})",
    ]


def _line(row: Expected, width: int) -> str:
    most = "unknown" if row.most is None else f"{row.most:,}"
    cells = ["unknown" if one is None else f"{one:,.2f}" for one in (row.dollars, row.most_dollars)]
    return f"{row.name:<{width}}  {row.calls:>11,.0f} {most:>11} {cells[0]:>11} {cells[1]:>11}"


@app.command("rate")
def rate(
    run: Annotated[Path, typer.Argument(help="Run directory of a factory study.")],
    out: Annotated[Path, typer.Option(help="HTML file to write; the name must end in .html.")],
    count: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of edits to rate; a tenth of them are shown twice.")
    ] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Random seed for the selection of edits.")] = 0,
    rater: Annotated[str, typer.Option(help="Name of the rater; can also be entered on the page.")] = "",
) -> None:
    """Write a page on which a person rates edits without seeing the judge's answers; does not change the run."""
    from convergebench.cli.display import say, say_beside
    from convergebench.conductor.factory_rating import write_rating_page

    made = write_rating_page(run, out, count=count, seed=seed, rater=rater)
    if made.other_rubric:
        say_beside("the judge of this run used a different version of the rubric than the page shows")
    size = made.path.stat().st_size / 1e6
    say(
        f"{made.path}: {made.edits:,} of {made.judged:,} judged edits, {made.accepted:,} of them accepted; "
        f"{made.repeated:,} are shown twice; {size:,.1f} MB "
        f"(next: open it, then cbench factory ratings {run} ratings.csv)"
    )


@app.command("ratings")
def ratings(
    run: Annotated[Path, typer.Argument(help="Run directory of a factory study.")],
    files: Annotated[list[Path], typer.Argument(help="CSV files that the rating page wrote.")],
) -> None:
    """Add ratings by people to a run; ratings it already has are not added again."""
    from convergebench.cli.display import say
    from convergebench.conductor.factory_rated import add_ratings

    done = add_ratings(run, files)
    parts = [f"{done.added:,} ratings by {', '.join(done.people) or 'no rater'} added"]
    parts += [f"{done.known:,} already known"] if done.known else []
    parts += [f"{done.changed:,} changed since they were added; the first values count"] if done.changed else []
    say(f"{'; '.join(parts)} (next: cbench report {run})")
    for one in done.consistency:
        say(_consistency(one))


@app.command("judges")
def judges(
    first: Annotated[Path, typer.Argument(help="Run directory of a factory study.")],
    second: Annotated[Path, typer.Argument(help="A run over the same edits (--reuse) with another judge.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print how well the judges of two runs agree on the edits that both judged."""
    import json

    from convergebench.cli.display import say
    from convergebench.conductor.factory_judges import compare_judges

    found = compare_judges(first, second)
    if as_json:
        tables = {"agreement": found.agreement.to_dicts(), "decisions": found.decisions.to_dicts()}
        whole = {"runs": [str(first), str(second)], "judges": found.judges, "edits": found.edits, "alone": found.alone}
        say(json.dumps({**whole, **tables, "notes": found.notes}, ensure_ascii=False, indent=1))
        return
    for line in _judges(found):
        say(line)


def _consistency(one: RaterConsistency) -> str:
    return (
        f"{one.rater} saw {one.edits:,} edits twice: {100 * one.same:.0f} % of {one.answers:,} answers are the same, "
        f"the mean difference is {one.difference:.2f}"
    )


def _judges(found: JudgesCompared) -> list[str]:
    from convergebench.cli.display import rows_as_text

    agreement = [
        {
            **{"editor": row["editor"], "about": row["question"].replace("_", " ")},
            "measure": row["note"] if row["measure"] == "none" else row["measure"],
            **{"value": _cell(row["value"]), "interval": _interval(row), "edits": f"{row['n']:,}"},
            "images": f"{row['n_sources']:,}",
        }
        for row in found.agreement.to_dicts()
    ]
    decisions = [
        {
            **{"editor": row["editor"], "attempts": row["attempts"], "differ": _percent(row["differ"])},
            "interval": "" if row["low"] is None else f"{_percent(row['low'])} to {_percent(row['high'])}",
            **{"accepted by both": f"{row['both']:,}", "A only": f"{row['first_only']:,}"},
            **{"B only": f"{row['second_only']:,}", "neither": f"{row['neither']:,}", "edits": f"{row['n']:,}"},
        }
        for row in found.decisions.to_dicts()
    ]
    return [
        f"A: {found.judges[0]}, B: {found.judges[1]}; {found.edits:,} edits judged by both, "
        f"{found.alone[0]:,} by A alone, {found.alone[1]:,} by B alone",
        "",
        rows_as_text(agreement),
        "",
        "decisions to accept (first: first attempts of first turns; both judged a later attempt only where both "
        "rejected)",
        rows_as_text(decisions),
        *(f"note: {note}" for note in found.notes),
    ]


def _interval(row: dict[str, float | None]) -> str:
    return "" if row["low"] is None else f"{_cell(row['low'])} to {_cell(row['high'])}"


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
