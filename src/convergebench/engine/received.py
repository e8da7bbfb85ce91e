"""Calling an editor, which is foreign code, and checking its answer: storable fields, a complete image."""

from __future__ import annotations

import json
from collections.abc import Mapping

from convergebench.engine.attempt import LONGEST_TEXT, is_amount, stored_text
from convergebench.engine.foreign import foreign_code
from convergebench.errors import BadReply, EditorError, StudyError
from convergebench.images.decode import decode, probe
from convergebench.store.images import ImageStore
from convergebench.store.tables import ImageRow
from convergebench.types import Edited, Editor, EditRequest


async def call_editor(editor: Editor, request: EditRequest) -> Edited:
    """The editor's answer, every field of which can be stored."""
    with foreign_code():
        try:
            edited = await editor.edit(request)
        except StudyError as error:  # the study was checked before the first call, so the fault is in this request
            raise EditorError(str(error), unsettled=True) from error
        _check_fields(edited)
    return edited


def store_image(images: ImageStore, edited: Edited, editor: Editor, name: str) -> ImageRow:
    """Store the bytes as received and return their row; `BadReply` if they are no complete image."""
    try:
        mime, width, height = probe(edited.image)
        if not editor.capabilities.simulated:  # our own encoders need no check
            decode(edited.image, what=f"the image from {name}", alpha="white")
    except StudyError as error:
        raise BadReply(str(error), dollars=edited.dollars, raw=edited.raw) from error
    identity = images.put(edited.image, mime)
    return ImageRow(identity, images.file_of(identity, mime), mime, width, height, len(edited.image))


def used_json(edited: Edited) -> str:
    """What was sent beside the instruction, as storable JSON."""
    return stored_text(json.dumps(dict(edited.used), ensure_ascii=False, default=str))


def _check_fields(edited: Edited) -> None:
    """`EditorError` if a field cannot be journalled: an invalid value of foreign code must not end the run."""
    if not isinstance(edited, Edited):
        raise EditorError(f"the editor answered with a {type(edited).__name__} instead of Edited", unsettled=True)
    if not is_amount(edited.dollars):
        raise EditorError(f"the editor says that the call cost {edited.dollars!r} dollars", unsettled=True)
    kinds = {"image": bytes, "model": str | None, "reasoning": str | None, "raw": str | None, "used": Mapping}
    for name, kind in kinds.items():
        value = getattr(edited, name)
        if not isinstance(value, kind):
            expected = getattr(kind, "__name__", "str | None")
            raise EditorError(
                f"the editor gave {name} as {type(value).__name__}, which should be {expected}", dollars=edited.dollars
            )
    try:
        length = len(used_json(edited))
    except (TypeError, ValueError, RecursionError) as error:
        raise EditorError(f"the editor gave a `used` that is not JSON: {error}", dollars=edited.dollars) from error
    if length >= LONGEST_TEXT:
        raise EditorError(f"the editor gave a `used` of more than {LONGEST_TEXT:,} characters", dollars=edited.dollars)
