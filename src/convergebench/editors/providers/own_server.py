"""What editors on servers that a user runs have in common: an address, no bill, and mostly no key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from convergebench.editors.models.table import Bounds, Model
from convergebench.editors.providers.remote import RemoteEditor
from convergebench.errors import BadReply, StudyError
from convergebench.images.decode import probe
from convergebench.keys import lacking_key
from convergebench.wire.client import Answer, Key, Wire, clean
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import judge


class OwnServerEditor(RemoteEditor):
    """An editor on a server of one's own. A key is sent only if the option `key` names its variable."""

    key_needed = False
    example: ClassVar[str]
    """An address such as a user would give."""
    basic: ClassVar[bool] = False
    """The variable holds `user:password` for basic authentication."""

    def __init__(self, name: str, model: Model, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self._require_address()
        # what one's own machine costs is nobody's business unless its owner says so
        self.capabilities = replace(self.capabilities, dollars_per_call=self.options.dollars or 0.0)
        key = Key(self.variables, basic=self.basic)
        # one connection more than edits at once: a call that is called off has to be taken back
        self._wire = Wire(self.base_url, key=key, seconds=self.limits.seconds, at_once=self.limits.at_once + 1)

    @classmethod
    def unlisted(cls, called: str) -> Model:
        """Whatever the server has; its owner gave it a name."""
        if not called:
            raise StudyError(f"'{cls.provider}:' names nothing; write {cls.provider}:NAME")
        return Model(
            id=f"{cls.provider}:{called}",
            provider=cls.provider,
            called=called,
            about="on a server of one's own",
            licence="see the model",
            bounds=Bounds(at_once=2),
        )

    def lacks(self) -> list[str]:
        """The key, if one was named; whether the server runs is found out by the first call."""
        missing = super().lacks()
        return [*missing, *lacking_key(self.variables, self.name, login=self.basic)] if self.variables else missing

    async def close(self) -> None:
        """Let go of the connections."""
        await self._wire.close()

    def read(self, answer: Answer, dollars: float = 0.0) -> dict[str, Any]:
        """The table that a good answer is; whatever else came becomes an error."""
        if answer.status != 200:
            raise judge(answer).as_editor_error()
        try:
            body = answer.json()
        except BadReply as error:
            raise BadReply(str(error), raw=clean(answer.text), dollars=dollars, unsettled=not dollars) from error
        if not isinstance(body, dict):
            said = f"{self.name} answered with a {type(body).__name__}"
            raise BadReply(said, raw=without_images(body), dollars=dollars, unsettled=not dollars)
        return body

    def _require_address(self) -> None:
        wanted = f'base_url = "{self.example}"'
        if not self.base_url:
            entry = f'{{ name = "mine", use = "{self.model.id}", {wanted} }}'
            raise StudyError(f"editor '{self.name}' does not know where its server is; in the study file: {entry}")


def size_in_steps(image: bytes, step: int) -> tuple[int, int]:
    """The image's own width and height, each rounded to the nearest multiple of `step`."""
    size = probe(image)
    width, height = (max(step, (side + step // 2) // step * step) for side in (size.width, size.height))
    return width, height
