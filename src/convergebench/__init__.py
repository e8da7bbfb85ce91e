"""ConvergeBench: what happens to an image when a model edits it again and again?

The nouns and errors that editors, metrics and studies of third parties are written with; everything else is reached
through the command `cbench` or the rooms below (`engine`, `store`, `analysis` …).
"""

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

__all__ = [
    "Ask",
    "BadReply",
    "Capabilities",
    "Case",
    "Compare",
    "ConvergeBenchError",
    "Edit",
    "EditPair",
    "EditRequest",
    "Edited",
    "Editor",
    "Exhausted",
    "Limits",
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
]
