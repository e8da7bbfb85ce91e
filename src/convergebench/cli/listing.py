"""`cbench list`: what there is."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Shelf(StrEnum):
    """What can be listed."""

    editors = "editors"
    metrics = "metrics"
    suites = "suites"
    pairs = "pairs"
    studies = "studies"
    variants = "variants"
    detectors = "detectors"


def list_names(
    shelf: Annotated[Shelf, typer.Argument(help="What to list.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List editors, metrics, suites, edit pairs, studies, variants or detectors, plug-ins included."""
    import json

    from convergebench.cli.display import rows_as_text, say
    from convergebench.cli.editors import editor_rows, editors_as_text

    rows = {
        "editors": editor_rows,
        "metrics": _metrics,
        "suites": _suites,
        "pairs": _pairs,
        "studies": _studies,
        "variants": _variants,
        "detectors": _detectors,
    }[shelf]()
    if as_json:
        say(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    if shelf == Shelf.editors:
        say(editors_as_text(rows))
        return
    wants = [(next(iter(row.values())), row.pop("lacks", "")) for row in rows]
    say(rows_as_text(rows))
    if any(lack for _, lack in wants):
        say("\nbefore they can run here:")
        say("\n".join(f"  {name}  {lack}" for name, lack in wants if lack))


def _metrics() -> list[dict[str, str]]:
    from convergebench.errors import ConvergeBenchError
    from convergebench.metrics import load_metric
    from convergebench.metrics.readiness import lacks
    from convergebench.registry import names

    rows = []
    for name in names("metrics"):
        try:
            facts = load_metric(name).facts
        except ConvergeBenchError as error:  # a plug-in that cannot load is listed with its reason
            columns = ("metric", "kind", "better", "range", "here", "licence", "what it measures")
            rows.append({**dict.fromkeys(columns, ""), "metric": name, "here": "no", "lacks": str(error)})
            continue
        low, high = facts.typical or facts.range
        missing = lacks(facts)
        rows.append(
            {
                "metric": name,
                "kind": facts.kind,
                "better": facts.better,
                "range": f"{'~' if facts.typical else ''}{low:g} … {high:g}{' ' + facts.unit if facts.unit else ''}",
                "here": "no" if missing else "yes",
                "licence": "noncommercial" if facts.noncommercial else "any use",
                "what it measures": facts.summary,
                "lacks": "; ".join(missing),
            }
        )
    return rows


def _suites() -> list[dict[str, str]]:
    from convergebench.registry import load, names

    return [
        {"suite": name, "what is in it": (load("suites", name).__doc__ or "").strip().splitlines()[0]}
        for name in names("suites")
    ]


def _pairs() -> list[dict[str, str]]:
    from convergebench.edits.pairs import load_pairs

    return [
        {
            "pair": pair.id,
            "category": pair.category,
            "class": pair.reversibility,
            "kinds": " ".join(pair.kinds),
            "forward": pair.forward,
            "backward": pair.backward,
        }
        for selection in ("all", "later")
        for pair in load_pairs([selection])
    ]


def _variants() -> list[dict[str, str]]:
    from convergebench.edits.variants import shipped_variants

    return [
        {
            "variant": variant.id,
            "family": variant.family,
            "words by": variant.origin,
            "cycle": str(variant.period),
            "compared": variant.compared,
            "first words": variant.steps[0].words,
        }
        for variant in shipped_variants()
    ]


def _detectors() -> list[dict[str, str]]:
    from convergebench.failures import load_detector
    from convergebench.registry import names

    facts = [load_detector(name).facts for name in names("failures")]
    return [{"detector": one.name, "level": one.level, "failure": one.title, "speaks when": one.rule} for one in facts]


def _studies() -> list[dict[str, str]]:
    import importlib

    from convergebench.registry import load, names

    rows = []
    for name in names("studies"):
        module = importlib.import_module(load("studies", name).__module__)
        rows.append({"study": name, "question": (module.__doc__ or "").strip().splitlines()[0]})
    return rows
