"""Whether a bundle's versions, suite, edits and editors are what their names say in this package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import get_args

from convergebench.edits.pairs import load_pairs
from convergebench.errors import ConvergeBenchError
from convergebench.images._table import TABLE as SUITES
from convergebench.images.align import AlignMode
from convergebench.images.suite import Suite, load_suite
from convergebench.leaderboard.bundle import ResultBundle, limited
from convergebench.leaderboard.describing import describe, suite_name
from convergebench.measuring.measure import metric_fingerprint
from convergebench.metrics import load_metric
from convergebench.metrics._table import TABLE as METRICS
from convergebench.studies._table import TABLE as STUDIES
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.base import load_study, study_of
from convergebench.types import Settings, State

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""Names of edits that may be looked up: a path is never followed because of a bundle."""
_SIMULATED = re.compile(r"\bsim-[a-z]")


def version_faults(bundle: ResultBundle) -> list[str]:
    """Studies and metrics that this package does not have in this version, a line each."""
    return limited(list(_versions(bundle)))


def origin_faults(bundle: ResultBundle) -> list[str]:
    """Everything that is not what it is called, a line each; study and metrics are those of this package."""
    parts = (_claims, _suite, _edits, _cases, _editors, _adherence)
    return [line for part in parts for line in limited(list(part(bundle)))]


def _versions(bundle: ResultBundle) -> Iterator[str]:
    manifest = bundle.manifest
    if manifest.study not in STUDIES or "comparison" not in study_of(manifest.study).analyses:
        yield f"study '{manifest.study[:40]}' is not one of this package with a score over rounds"
    if manifest.align not in get_args(AlignMode):
        yield f"alignment '{manifest.align[:40]}' is not one of this package"
    precision = str(manifest.spec.get("measure", {}).get("precision", "float32"))
    for name, identity in manifest.metrics.items():
        if name not in METRICS:
            yield f"metric '{name[:40]}' is not one of this package, so it cannot be checked"
            continue
        metric = load_metric(name)
        if metric.facts.asks:  # the model that was asked is part of its identity
            continue
        own = metric_fingerprint(metric, precision)
        if identity != own:
            yield (
                f"metric {name}: measured as {identity[:60]}, this version of convergebench has {own}; measure the run "
                "again with this version and submit it again"
            )


def _claims(bundle: ResultBundle) -> Iterator[str]:
    """`bundle.json` says what the tables say."""
    about = bundle.about
    submitter = about.get("submitter")
    if (
        not isinstance(submitter, dict)
        or not set(submitter) <= {"name", "contact"}
        or not all(isinstance(one, str) and len(one) <= 200 for one in submitter.values())
    ):
        yield "bundle.json: the submitter is not a name and a contact"
        return
    package = about.get("package")
    if not isinstance(package, str) or not re.fullmatch(r"[0-9A-Za-z.+-]{1,40}", package):
        yield "bundle.json: the version of the package is not a version"
        return
    for name in ("created", "finished"):
        if not is_time(about.get(name)):
            yield f"bundle.json: '{name}' is not a time"
            return
    own = describe(bundle.manifest, bundle.tables, submitter=submitter, package=package)
    for name in sorted(own.keys() | about.keys()):
        if own.get(name) != about.get(name):
            yield f"bundle.json: '{name[:40]}' is not what the tables and the manifest give"


def shipped_suite(bundle: ResultBundle) -> Suite | None:
    """The suite of this package that a bundle names, if it names one."""
    name = suite_name(bundle.manifest)
    if name not in SUITES:
        return None
    try:
        return load_suite(name, partial=True)
    except ConvergeBenchError:
        return None


def _suite(bundle: ResultBundle) -> Iterator[str]:
    suite = shipped_suite(bundle)
    if suite is None:
        return
    known = {image.id: image.sha256 for image in suite.listed}
    for name, facts in bundle.manifest.sources.items():
        if name not in known:
            yield f"suite '{suite.name}': has no image '{name}'; this is another suite under its name"
        elif known[name] != facts["sha256"]:
            yield f"suite '{suite.name}': its image '{name}' has another content; this is another suite under its name"
    images = bundle.manifest.spec.get("images", {})
    lacking = [name for name in known if name not in bundle.manifest.sources]
    if lacking and not images.get("limit") and not images.get("kinds") and not images.get("partial"):
        used = {source for source, _ in _expected(bundle, suite)}
        lost = [name for name in lacking if name in used]
        if lost:
            yield f"suite '{suite.name}': {len(lost)} of its {len(known)} images are left out (first: {lost[0]})"


def _edits(bundle: ResultBundle) -> Iterator[str]:
    """An edit of this package keeps its words."""
    for label, facts in bundle.manifest.pairs.items():
        name = str(facts.get("id") or label)
        if not _NAME.fullmatch(name):
            continue
        try:
            known = {pair.label: pair for pair in load_pairs([name], wordings=9)}.get(label)
        except ConvergeBenchError:
            continue
        if known is None:
            continue
        if (known.forward, known.backward) != (facts.get("forward"), facts.get("backward")):
            yield f"edit '{label}': its words are not those of this package"


def _expected(bundle: ResultBundle, suite: Suite | None) -> set[tuple[str, str]]:
    """(source, case id) that the study makes of these sources; empty where that cannot be known here."""
    spec, name = bundle.manifest.spec, bundle.manifest.study
    edits = spec.get("edits", {})
    chosen = edits.get("pairs", [])
    if (
        suite is None
        or not isinstance(chosen, list)
        or not all(isinstance(one, str) and _NAME.fullmatch(one) for one in chosen)
    ):
        return set()
    try:
        pairs = load_pairs(chosen, wordings=int(edits.get("wordings", 1)))
        kind = load_study(name)
        study = kind.of(kind.Parameters.model_validate(spec.get(name, {})), Settings())
        sources = [(image, State(f"i1:{image.sha256}", f"i1:{image.sha256}")) for image in suite.listed]
        return {(case.source_id, case.id) for case in study.cases(sources, pairs)}
    except (ConvergeBenchError, ValueError, TypeError):
        return set()


def _cases(bundle: ResultBundle) -> Iterator[str]:
    """No case of the declared images and edits is left out."""
    own = {row["id"] for row in bundle.tables["cases"]}
    expected = {case for source, case in _expected(bundle, shipped_suite(bundle)) if source in bundle.manifest.sources}
    lacking = sorted(expected - own)
    if lacking:
        some = f"{len(lacking)} of the {len(expected)} that the suite and the edits give"
        yield f"cases: {some} are left out (first: {lacking[0]})"
    used = {row["source"] for row in bundle.tables["cases"]}
    unused = sorted(set(bundle.manifest.sources) - used)
    if unused:
        yield f"cases: {len(unused)} source images have none (first: {unused[0]})"


def _editors(bundle: ResultBundle) -> Iterator[str]:
    for name, facts in bundle.manifest.editors.items():
        identity = f"{facts['fingerprint']} {facts.get('use', '')} {name}"
        if _SIMULATED.search(identity) and not facts.get("simulated"):
            yield f"editor '{name[:60]}': is a simulated editor that is not marked as simulated"
        floor = str(facts["fingerprint"]).partition("@")[0]
        if floor in AnalysisSettings().floors and not floor.startswith("sim-") and facts.get("instructed", True):
            yield f"editor '{name[:60]}': ignores instructions ({floor}) and is not marked so"


def _adherence(bundle: ResultBundle) -> Iterator[str]:
    """Without these two an editor that does nothing would win."""
    settings = AnalysisSettings()
    if any(row["role"] == "forward" for row in bundle.tables["comparisons"]):
        for name in settings.adherence:
            if name not in bundle.manifest.metrics:
                yield f"metric {name}: was not measured, so an editor that changes nothing could not be recognised"
    if not set(settings.quality) & set(bundle.manifest.metrics):
        yield f"metrics: neither {' nor '.join(settings.quality)} was measured, so there is no score"


def is_time(text: object) -> bool:
    """Whether this is a text with a date and a time, as journals have them."""
    try:
        datetime.fromisoformat(str(text))
    except ValueError:
        return False
    return isinstance(text, str)
