"""One call of one editor against a server of the test's own."""

from __future__ import annotations

import asyncio
from typing import Any

from convergebench.editors.base import close
from convergebench.editors.find import make_editor
from convergebench.types import Edited, Editor, EditRequest
from tests.editors.providers.loopback import Answerer, Loopback, serving


def request(image: bytes, words: str = "add a hat") -> EditRequest:
    return EditRequest(image, "image/png", words, seed=5, case="c", index=1)


def edited_by(editor: Editor, *requests: EditRequest) -> list[Edited]:
    """What the editor makes of them, one after the other; it is closed afterwards."""

    async def all_of_them() -> list[Edited]:
        try:
            return [await editor.edit(one) for one in requests]
        finally:
            await close(editor)

    return asyncio.run(all_of_them())


def one_edit(
    use: str, answer: Answerer, image: bytes, *, path: str = "", words: str = "add a hat", **options: Any
) -> tuple[Edited, Loopback]:
    """The edit and the server that was asked for it."""
    with serving(answer) as loopback:
        editor = make_editor(use, base_url=f"{loopback.address}{path}", **options)
        return edited_by(editor, request(image, words))[0], loopback
