"""Which editors go to the machines of a cluster, and how much of a machine a copy takes."""

from __future__ import annotations

from convergebench.backends.base import EditorRecipe
from convergebench.editors.base import PROCESSOR, calls_parts
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.types import Editor, Resources


def resources_of(editor: Editor, name: str, declared: Resources | None) -> Resources | None:
    """What a copy needs, as the study or else the editor says; None: it is called from the command's process.

    An editor with an account calls a server. It stays where the keys and the rate limits are.
    """
    limits = editor.limits
    if limits.account and limits.account != PROCESSOR:
        if declared is not None:
            raise StudyError(
                f"{name} calls a server, which is done where the command runs; remove its resources from the study"
            )
        return None
    if calls_parts(editor) and editor.capabilities.dollars_per_call != 0:
        return None  # each paid answer of a part is journalled here
    own = getattr(editor, "resources", None)
    if declared is not None or isinstance(own, Resources):  # a plug-in may mean something else by the word
        return declared or own
    return Resources() if limits.account == PROCESSOR else None


def calls_per_copy(editor: Editor, resources: Resources) -> int:
    """How many calls a copy gets at once: enough for its batches, or one for each core and one on its way."""
    if resources.gpus or not (editor.limits.account == PROCESSOR or editor.capabilities.simulated):
        return editor.limits.at_once
    return max(1, min(editor.limits.at_once, int(resources.cpus) + 1))


def is_rebuilt(editor: Editor, name: str, recipe: EditorRecipe) -> bool:
    """Whether the study file's words make the same editor again; objects given in Python may be anything."""
    from convergebench.editors.find import make_editor

    try:
        return make_editor(recipe.use, name, **recipe.options).fingerprint == editor.fingerprint
    except ConvergeBenchError:
        return False
