"""The audit as plain data, for other programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from convergebench.analysis.audit.result import frame_names
from convergebench.analysis.audit.settings import BEYOND, OFTEN
from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.report.audit.input import AuditReportInput
from convergebench.report.chains import plain

IN_TABLES = ("gaps", "cells", "traces")
"""Frames with a row per image, which are only in the folder of tables."""


def audit_json(given: AuditReportInput) -> dict[str, Any]:
    """All results but the rows of single images, ready for `json.dumps(…, allow_nan=False)`.

    A missing value is null; an infinite one is the string `Infinity`.
    """
    audit = given.audit
    found: dict[str, Any] = plain(
        {
            "finding": list(audit.headline),
            "notes": list(audit.notes),
            "analysis_version": audit.version,
            "settings": asdict(audit.settings),
            "rules": {"often": OFTEN, "fewest_sources": FEWEST_SOURCES, "images_beyond_percentile": BEYOND},
            "runs": list(given.runs),
            "simulated": sorted(given.simulated),
            "made": {key: value for key, value in given.made.items() if key != "runs"},
            **{name: getattr(audit, name).to_dicts() for name in frame_names() if name not in IN_TABLES},
        }
    )
    return found
