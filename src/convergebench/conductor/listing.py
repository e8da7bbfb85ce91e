"""What there is: editors, metrics, suites, edit pairs, studies, variants, detectors and degradations as rows."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from convergebench.degradations import load_degradation
from convergebench.documents import read_toml
from convergebench.editors._table import TABLE
from convergebench.editors.base import lacks as editor_lacks
from convergebench.editors.find import make_editor
from convergebench.editors.models.table import broken_models, find_model, models
from convergebench.edits.pairs import load_pairs
from convergebench.edits.taxonomy import taxonomy
from convergebench.edits.variants import shipped_variants
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.failures.find import find_detector
from convergebench.images.packaged import find_originals
from convergebench.images.rows import FetchedRow
from convergebench.images.shipped import ShippedSuite
from convergebench.metrics import load_metric
from convergebench.metrics.readiness import lacks as metric_lacks
from convergebench.registry import error_text, left_out, load, names
from convergebench.studies.base import load_study
from convergebench.studies.shipped import shipped_studies

if TYPE_CHECKING:
    from convergebench.editors.models.table import ModelEntry
    from convergebench.types import Capabilities, Editor


def editor_rows() -> list[dict[str, Any]]:
    """One row per name: built-ins and plug-ins, then the models of the table that are behind a provider."""
    rows = [_plugin_row(name) if name not in TABLE else _row(name, find_model(name)) for name in names("editors")]
    known = set(names("editors"))
    rows += [_row(model.id, model) for model in models().values() if model.id not in known]
    return rows + [_refused_row(name, reason) for name, reason in (left_out("editors") | broken_models()).items()]


def _plugin_row(name: str) -> dict[str, Any]:
    """The row of a plug-in, whatever is wrong with it."""
    try:
        return _row(name, find_model(name))
    except (Exception, SystemExit) as error:
        return _refused_row(name, f"editor '{name}' cannot be listed: {error_text(error)}")


def _refused_row(name: str, reason: str) -> dict[str, Any]:
    """The row of a plug-in that is left out."""
    row = dict.fromkeys(("dollars", "takes", "what it does"), "")
    return {"editor": name, "by": "plug-in", "here": "no", **row, "lacks": [reason], **_facts(None)}


def _row(name: str, model: ModelEntry | None) -> dict[str, Any]:
    editor: Editor | None = None
    missing: list[str] = []
    try:
        editor = make_editor(name)
        missing = editor_lacks(editor)
    except StudyError as error:  # it needs options, such as a folder or an editor to be made of; or it is broken
        missing = [] if _wants_options(name, error) else [str(error)]
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


def _wants_options(name: str, error: StudyError) -> bool:
    """Whether an editor is fine but for an argument that it was not given."""
    cause = error.__cause__
    if name in TABLE:
        return cause is None or isinstance(cause, TypeError)
    return isinstance(cause, TypeError) and "missing" in str(cause)


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
            rows.append(_refused_metric(name, str(error)))
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
    return rows + [_refused_metric(name, reason) for name, reason in left_out("metrics").items()]


def _refused_metric(name: str, reason: str) -> dict[str, str]:
    columns = ("metric", "kind", "better", "range", "here", "licence", "what it measures")
    return {**dict.fromkeys(columns, ""), "metric": name, "here": "no", "lacks": reason}


def suite_rows() -> list[dict[str, str]]:
    """Every suite of source images; how many pictures it has, if that can be told without loading it."""
    rows = []
    for name in names("suites"):
        try:
            suite = load("suites", name)
        except ConvergeBenchError as error:
            rows.append(_refused_suite(name, str(error)))
            continue
        pictures, fetched = _pictures(suite)
        about = (suite.__doc__ or "").strip().partition("\n")[0]
        rows.append({"suite": name, "pictures": pictures, "to be fetched": fetched, "what is in it": about})
    return rows + [_refused_suite(name, reason) for name, reason in left_out("suites").items()]


def _refused_suite(name: str, reason: str) -> dict[str, str]:
    return {"suite": name, "pictures": "", "to be fetched": "", "what is in it": reason}


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
    rows = []
    for name in names("failures"):
        try:
            one = find_detector(name).facts
        except ConvergeBenchError as error:
            rows.append(_refused_detector(name, str(error)))
            continue
        rows.append({"detector": one.name, "level": one.level, "failure": one.title, "speaks when": one.rule})
    return rows + [_refused_detector(name, reason) for name, reason in left_out("failures").items()]


def _refused_detector(name: str, reason: str) -> dict[str, str]:
    return {"detector": name, "level": "", "failure": "", "speaks when": reason}


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
    refused = {"family": "", "what it does": "cannot be used"}
    return rows + [
        {"degradation": name, **refused, "lacks": reason} for name, reason in left_out("degradations").items()
    ]


def study_rows() -> list[dict[str, str]]:
    """Every study, with the question that it answers."""
    rows = [{"study": name, "question": _question(name)} for name in names("studies")]
    return rows + [{"study": name, "question": reason} for name, reason in left_out("studies").items()]


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
