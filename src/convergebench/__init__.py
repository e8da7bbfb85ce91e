"""ConvergeBench: what happens to an image when a model edits it again and again?

`import convergebench as cb`, then `cb.run("roundtrip", editors=["sim-jpeg"], rounds=5)`, `cb.load("runs/x").ranking`,
`cb.score(image, reference, "ssim")`; docs/python-api.md shows them all. Beside them stand the nouns and errors that
editors, metrics and studies of third parties are written with. Importing this loads nothing heavy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from convergebench.errors import (
    BadReply,
    ConvergeBenchError,
    Exhausted,
    Prerequisite,
    Refused,
    StudyError,
    Transient,
    Unavailable,
    Unmeasurable,
)
from convergebench.types import (
    Ask,
    Capabilities,
    Case,
    Compare,
    Decision,
    Edit,
    Edited,
    Editor,
    EditPair,
    EditRequest,
    Limits,
    Reply,
    Settings,
    SourceImage,
    State,
    Steps,
    Study,
    Turn,
)

if TYPE_CHECKING:
    from convergebench.api.comparing import LoadedAudit, audit, audit_async, compare, editors, metrics
    from convergebench.api.loaded import LoadedRun
    from convergebench.api.running import load, run, run_async
    from convergebench.api.scoring import score, score_async
    from convergebench.editors.function_editor import FunctionEditor

__all__ = [
    "Ask",
    "BadReply",
    "Capabilities",
    "Case",
    "Compare",
    "ConvergeBenchError",
    "Decision",
    "Edit",
    "EditPair",
    "EditRequest",
    "Edited",
    "Editor",
    "Exhausted",
    "FunctionEditor",
    "Limits",
    "LoadedAudit",
    "LoadedRun",
    "Prerequisite",
    "Refused",
    "Reply",
    "Settings",
    "SourceImage",
    "State",
    "Steps",
    "Study",
    "StudyError",
    "Transient",
    "Turn",
    "Unavailable",
    "Unmeasurable",
    "audit",
    "audit_async",
    "compare",
    "editors",
    "load",
    "metrics",
    "run",
    "run_async",
    "score",
    "score_async",
]

_API = {
    **dict.fromkeys(("LoadedAudit", "audit", "audit_async", "compare"), "api.comparing"),
    "FunctionEditor": "editors.function_editor",
    "LoadedRun": "api.loaded",
    **dict.fromkeys(("load", "run", "run_async"), "api.running"),
    **dict.fromkeys(("score", "score_async"), "api.scoring"),
    "editors": "",
    "metrics": "",
}
"""Names that are loaded when they are first used → the module that has each; a room that can be called has none."""


def __getattr__(name: str) -> Any:
    if name in _API:
        module = import_module(f"convergebench.{_API[name] or name}")
        return getattr(module, name) if _API[name] else module
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
