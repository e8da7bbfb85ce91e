"""`bundle.json`: what a bundle is, computed from its manifest and its tables, so that a check computes it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from convergebench.analysis import ANALYSIS_VERSION
from convergebench.ids import content_hash
from convergebench.leaderboard.layout import BUNDLE_FORMAT, Tables
from convergebench.store.manifest import Manifest

LICENCE = (
    "Tables and texts: CC0-1.0. Images: each under the licence of its source, listed in README.md; edited images as "
    "far as the terms of their model allow."
)
_MOST_MODELS = 5


def describe(
    manifest: Manifest, tables: Tables, *, submitter: Mapping[str, str], package: str | None = None
) -> dict[str, Any]:
    """Everything that a reader should know before the tables."""
    return {
        "format": BUNDLE_FORMAT,
        "package": package or version("convergebench"),
        "analysis_version": ANALYSIS_VERSION,
        "study": manifest.study,
        "suite": suite_facts(manifest),
        "edits": {"labels": sorted(manifest.pairs), "hash": content_hash(manifest.pairs)},
        "align": manifest.align,
        "rounds": max((row["planned"] for row in tables["chains"]), default=0),
        "cases": len(tables["cases"]),
        "created": manifest.created,
        "finished": finished(tables) or manifest.created,
        "environment": environment(manifest),
        "editors": {name: _editor(name, manifest, tables) for name in sorted(manifest.editors)},
        "metrics": dict(sorted(manifest.metrics.items())),
        "submitter": dict(submitter),
        "licence": LICENCE,
        "counts": {name: len(rows) for name, rows in tables.items()},
        "statuses": dict(sorted(Counter(row["status"] for row in tables["chains"]).items())),
    }


def suite_facts(manifest: Manifest) -> dict[str, Any]:
    """Name, number of images, and the hash over each image's id and content."""
    images = sorted((name, str(facts["sha256"])) for name, facts in manifest.sources.items())
    return {"name": suite_name(manifest), "images": len(images), "hash": content_hash(images)}


def suite_name(manifest: Manifest) -> str:
    """As the study file calls it."""
    return str(manifest.spec.get("images", {}).get("suite") or "unnamed")


def finished(tables: Tables) -> str:
    """When the last call was made; empty without any."""
    return max((str(row["started"]) for row in tables["attempts"]), default="")


def environment(manifest: Manifest) -> dict[str, Any]:
    """Versions and platform of the last command that wrote to the run."""
    last = manifest.sessions[-1] if manifest.sessions else {}
    return {"versions": last.get("versions", {}), "platform": last.get("platform", "")}


def _editor(name: str, manifest: Manifest, tables: Tables) -> dict[str, Any]:
    facts = manifest.editors[name]
    calls = (row["model"] for row in tables["attempts"] if row["editor"] == name and row["outcome"] in ("ok", "reused"))
    models = sorted({str(model) for model in calls if model})
    return {
        "fingerprint": facts["fingerprint"],
        "simulated": bool(facts.get("simulated", False)),
        "instructed": bool(facts.get("instructed", True)),
        "models": models[:_MOST_MODELS],
        "settings": facts.get("settings", {}),
        "chains": sum(row["editor"] == name for row in tables["chains"]),
    }
