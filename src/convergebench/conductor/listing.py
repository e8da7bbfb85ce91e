"""What there is: editors, metrics, suites, edit pairs, studies, variants, detectors and degradations as rows."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from convergebench.degradations import load_degradation
from convergebench.documents import read_toml
from convergebench.editors._table import TABLE
from convergebench.editors.base import lacks as editor_lacks
from convergebench.editors.find import make_editor
from convergebench.editors.models.table import find_model, models
from convergebench.edits.pairs import load_pairs
from convergebench.edits.taxonomy import taxonomy
from convergebench.edits.variants import shipped_variants
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.failures import load_detector
from convergebench.images.packaged import find_originals
from convergebench.images.rows import FetchedRow
from convergebench.images.shipped import ShippedSuite
from convergebench.metrics import load_metric
from convergebench.metrics.readiness import lacks as metric_lacks
from convergebench.registry import load, names
from convergebench.studies.base import load_study
from convergebench.studies.shipped import shipped_studies

if TYPE_CHECKING:
    from convergebench.editors.models.table import ModelEntry
    from convergebench.types import Capabilities, Editor


def editor_rows() -> list[dict[str, Any]]:
    """One row per name: built-ins and plug-ins, then the models of the table that are behind a provider."""
    rows = [_row(name, find_model(name)) for name in names("editors")]
    known = set(names("editors"))
    return rows + [_row(model.id, model) for model in models().values() if model.id not in known]


def _row(name: str, model: ModelEntry | None) -> dict[str, Any]:
    editor: Editor | None = None
    missing: list[str] = []
    try:
        editor = make_editor(name)
        missing = editor_lacks(editor)
    except StudyError as error:  # it needs options, such as a folder or an editor to be made of; or it is broken
        missing = [] if error.__cause__ is None or isinstance(error.__cause__, TypeError) else [str(error)]
    except ConvergeBenchError as error:  # a plug-in that cannot load is listed with its reason
        missing = [str(error)]
    able = editor.capabilities if editor else None
    return {
        "editor": name,
        "by": _by(name, model),
        "here": "no" if missing else "yes" if editor else "with options",
        "dollars": _dollars(able),
        "takes": _takes(able),
        "what it does": model.about if model else _summary(name),
        "lacks": missing,
        **_facts(model),
    }


def _by(name: str, model: ModelEntry | None) -> str:
    if model is not None:
        return model.provider
    return "embedded" if name in TABLE else "plug-in"


def _summary(name: str) -> str:
    try:
        text = (load("editors", name).__doc__ or "").strip().partition("\n")[0]
    except ConvergeBenchError as error:
        return f"cannot be loaded: {error}"
    return str(text).removeprefix(f"`{name}`: ")


def _dollars(able: Capabilities | None) -> str:
    if able is None:
        return ""
    if able.dollars_per_call is None:
        return "unknown"
    prices = sorted({able.dollars_per_call, *able.dollars_by_resolution.values()})
    return " … ".join(f"{price:g}" for price in dict.fromkeys((prices[0], prices[-1])))


def _takes(able: Capabilities | None) -> str:
    if able is None:
        return ""
    words = [word for word in ("seed", "temperature", "sessions", "reasoning") if getattr(able, word)]
    words += ["aspect"] if able.aspects else []
    return " ".join([*words, *able.resolutions]) if able.instructed else "no instruction"


def _facts(model: ModelEntry | None) -> dict[str, Any]:
    """What only the table of models knows; empty for others."""
    if model is None:
        return {"aliases": [], "licence": "", "price read": "", "retires": "", "successor": "", "notes": ""}
    return {
        "aliases": list(model.aliases),
        "licence": model.licence,
        "price read": model.price.read if model.price else "",
        "retires": model.retires or "",
        "successor": model.successor,
        "notes": model.notes,
    }


def metric_rows() -> list[dict[str, str]]:
    """Every metric, with what it measures and what it lacks here."""
    rows = []
    for name in names("metrics"):
        try:
            facts = load_metric(name).facts
        except ConvergeBenchError as error:  # a plug-in that cannot load is listed with its reason
            columns = ("metric", "kind", "better", "range", "here", "licence", "what it measures")
            rows.append({**dict.fromkeys(columns, ""), "metric": name, "here": "no", "lacks": str(error)})
            continue
        low, high = facts.typical or facts.range
        missing = metric_lacks(facts)
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


def suite_rows() -> list[dict[str, str]]:
    """Every suite of source images; how many pictures it has, if that can be told without loading it."""
    rows = []
    for name in names("suites"):
        suite = load("suites", name)
        pictures, fetched = _pictures(suite)
        about = (suite.__doc__ or "").strip().partition("\n")[0]
        rows.append({"suite": name, "pictures": pictures, "to be fetched": fetched, "what is in it": about})
    return rows


def _pictures(suite: object) -> tuple[str, str]:
    """How many pictures a suite has, and how many of those are not here yet."""
    if not isinstance(suite, ShippedSuite):
        return "", ""
    rows = suite.rows()
    fetched = [row for row in rows if isinstance(row, FetchedRow)]
    return str(len(rows)), str(len(fetched) - len(find_originals(fetched)))


def pair_rows() -> list[dict[str, str]]:
    """Every edit pair, with its words."""
    return [
        {
            "pair": pair.id,
            "category": pair.category,
            "class": pair.reversibility,
            "kinds": " ".join(pair.kinds),
            "forward": pair.forward,
            "backward": pair.backward or "",
        }
        for selection in ("all", "later")
        for pair in load_pairs([selection])
    ]


def variant_rows() -> list[dict[str, str]]:
    """Every variant of the replicate study."""
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


def detector_rows() -> list[dict[str, str]]:
    """Every detector of failures."""
    facts = [load_detector(name).facts for name in names("failures")]
    return [{"detector": one.name, "level": one.level, "failure": one.title, "speaks when": one.rule} for one in facts]


def degradation_rows() -> list[dict[str, str]]:
    """Every degradation; a plug-in that cannot load is listed with its reason."""
    rows = []
    for name in names("degradations"):
        try:
            one = load_degradation(name)
        except ConvergeBenchError as error:
            rows.append({"degradation": name, "family": "", "what it does": "cannot be loaded", "lacks": str(error)})
            continue
        rows.append({"degradation": name, "family": one.family, "what it does": one.summary, "lacks": ""})
    return rows


def study_rows() -> list[dict[str, str]]:
    """Every study, with the question that it answers."""
    return [{"study": name, "question": _question(name)} for name in names("studies")]


def study_file_rows() -> list[dict[str, str]]:
    """Every study file that comes with the package, with its study and title."""
    rows = []
    for name, path in shipped_studies().items():
        content = read_toml(path)
        rows.append({"name": name, "study": str(content.get("study", "")), "title": str(content.get("title", ""))})
    return rows


def _question(name: str) -> str:
    try:
        study = load_study(name)
    except ConvergeBenchError as error:
        return str(error)
    text = importlib.import_module(study.__module__).__doc__ or study.__doc__ or ""
    return text.strip().partition("\n")[0]


def edit_type_rows() -> list[dict[str, str]]:
    """The edit types of a factory, with what a picture must show for them."""
    return [
        {"edit type": one.id, "category": one.category, "needs": one.needs or "", "what it asks for": one.name}
        for one in taxonomy().values()
    ]
