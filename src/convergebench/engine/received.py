"""Calling an editor, which is foreign code, and taking in what it gives: a sound answer, a whole image, a file."""

from __future__ import annotations

from convergebench.engine.attempt import require_sound
from convergebench.engine.foreign import foreign_code
from convergebench.errors import BadReply, EditorError, StudyError
from convergebench.images.decode import decode, probe
from convergebench.store.images import ImageStore
from convergebench.store.journal import Row
from convergebench.types import Edited, Editor, EditRequest


async def edited_by(editor: Editor, request: EditRequest) -> Edited:
    """The editor's answer, every field of which can be stored."""
    with foreign_code():
        try:
            edited = await editor.edit(request)
        except StudyError as error:  # the study was found good before the first call, so this image is the trouble
            raise EditorError(str(error), unsettled=True) from error
        require_sound(edited)
    return edited


def image_row(images: ImageStore, edited: Edited, editor: Editor, name: str) -> Row:
    """Store the bytes as they came and give their row; its first value is the image's id."""
    try:
        mime, width, height = probe(edited.image)
        if not editor.capabilities.simulated:  # our own encoders need no second look
            decode(edited.image, what=f"the image from {name}", alpha="white")
    except StudyError as error:
        raise BadReply(str(error), dollars=edited.dollars, raw=edited.raw) from error
    identity = images.put(edited.image, mime)
    return ("images", (identity, images.file_of(identity, mime), mime, width, height, len(edited.image)))
