"""What `import convergebench as cb` offers, and that its names stay."""

from __future__ import annotations

import subprocess
import sys

import convergebench as cb

FUNCTIONS = {
    "audit", "audit_async", "compare", "editors", "load", "metrics", "run", "run_async", "score", "score_async",
}  # fmt: skip
RESULTS = {"FunctionEditor", "LoadedAudit", "LoadedRun"}
NOUNS = {
    "Ask", "Capabilities", "Case", "Compare", "Decision", "Edit", "EditPair", "EditRequest", "Edited", "Editor",
    "Limits", "Reply", "Settings", "SourceImage", "State", "Steps", "Study", "Turn",
}  # fmt: skip
ERRORS = {
    "BadReply", "ConvergeBenchError", "Exhausted", "Prerequisite", "Refused", "StudyError", "Transient", "Unavailable",
    "Unmeasurable",
}  # fmt: skip


def test_the_exported_names_are_these_and_no_others() -> None:
    assert set(cb.__all__) == FUNCTIONS | RESULTS | NOUNS | ERRORS
    assert dir(cb) == sorted(cb.__all__)


def test_every_exported_name_is_there_and_explains_itself() -> None:
    for name in cb.__all__:
        assert getattr(cb, name).__doc__ or name == "Steps", name


def test_a_name_that_is_not_exported_is_refused() -> None:
    assert not hasattr(cb, "rum")


def test_editors_and_metrics_can_be_called_whatever_was_imported_before() -> None:
    from convergebench.editors.find import make_editor
    from convergebench.metrics.base import Reading

    assert Reading._fields
    assert "sim-jpeg" in cb.editors()["editor"].to_list()
    assert {"metric", "better", "range", "lacks"} <= set(cb.metrics().columns)
    assert make_editor("sim-jpeg").name == "sim-jpeg"


def test_importing_and_listing_names_loads_nothing_heavy() -> None:
    code = """
import convergebench as cb, sys
dir(cb), cb.__all__
print([name for name in ("numpy", "PIL", "polars", "pydantic", "cv2", "matplotlib", "torch") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
