"""What pages show of a manifest."""

from __future__ import annotations

from typing import Any

from convergebench.analysis import ANALYSIS_VERSION
from convergebench.ids import content_hash
from convergebench.store.manifest import Manifest


def manifest_facts(manifest: Manifest) -> dict[str, Any]:
    """How a run was made, for whoever shows it."""
    last = manifest.sessions[-1] if manifest.sessions else {}
    return {
        "name": manifest.name,
        "study": manifest.study,
        "created": manifest.created,
        "command": last.get("command", ""),
        "spec": manifest.spec,
        "versions": last.get("versions", {}),
        "git": last.get("git"),
        "suite_hash": content_hash({name: source["sha256"] for name, source in manifest.sources.items()}),
        "pairs_hash": content_hash(manifest.pairs),
        "analysis_version": ANALYSIS_VERSION,
        "sources": manifest.sources,
        "pairs": manifest.pairs,
        "editors": [{"name": name, **facts} for name, facts in manifest.editors.items()],
        "metrics": [{"name": name, "fingerprint": identity} for name, identity in manifest.metrics.items()],
        "sessions": manifest.sessions,
    }
