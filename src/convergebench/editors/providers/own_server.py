"""Base of editors on self-hosted servers: with an address, without a price, and mostly without a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from convergebench.editors.models.table import ModelEntry, ModelLimits
from convergebench.editors.providers.remote import RemoteEditor
from convergebench.errors import BadReply, StudyError
from convergebench.images.decode import probe
from convergebench.keys import lacking_key
from convergebench.wire.client import HttpReply, KeySource, Wire, clean
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import classify_failure


class OwnServerEditor(RemoteEditor):
    """An editor on a self-hosted server. A key is sent only if the option `key` names its variable."""

    key_needed = False
    example: ClassVar[str]
    """Example address for error messages."""
    basic: ClassVar[bool] = False
    """The variable holds `user:password` for basic authentication."""

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self._require_address()
        # free, unless the user states a price
        self.capabilities = replace(self.capabilities, dollars_per_call=self.options.dollars or 0.0)
        key = KeySource(self.variables, basic=self.basic)
        # one connection more than parallel edits, for cancelling jobs
        self._wire = Wire(self.base_url, key=key, seconds=self.limits.seconds, at_once=self.limits.at_once + 1)

    @classmethod
    def unlisted(cls, called: str) -> ModelEntry:
        """A model by any name, since the table lists none for these servers."""
        if not called:
            raise StudyError(f"'{cls.provider}:' names nothing; write {cls.provider}:NAME")
        return ModelEntry(
            id=f"{cls.provider}:{called}",
            provider=cls.provider,
            called=called,
            about="on your own server",
            licence="see the model",
            bounds=ModelLimits(at_once=2),
        )

    def lacks(self) -> list[str]:
        """The key, if one is configured; the first call shows whether the server runs."""
        missing = super().lacks()
        return [*missing, *lacking_key(self.variables, self.name, login=self.basic)] if self.variables else missing

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    def read(self, answer: HttpReply, dollars: float = 0.0) -> dict[str, Any]:
        """The JSON object of a successful reply; raises an error for anything else."""
        if answer.status != 200:
            raise classify_failure(answer).as_editor_error()
        try:
            body = answer.json()
        except BadReply as error:
            raise BadReply(str(error), raw=clean(answer.text), dollars=dollars, unsettled=not dollars) from error
        if not isinstance(body, dict):
            message = f"{self.name} answered with a {type(body).__name__}"
            raise BadReply(message, raw=without_images(body), dollars=dollars, unsettled=not dollars)
        return body

    def _require_address(self) -> None:
        setting = f'base_url = "{self.example}"'
        if not self.base_url:
            entry = f'{{ name = "mine", use = "{self.model.id}", {setting} }}'
            raise StudyError(f"editor '{self.name}' does not know where its server is; in the study file: {entry}")


def size_in_steps(image: bytes, step: int) -> tuple[int, int]:
    """The image's own width and height, each rounded to the nearest multiple of `step`."""
    size = probe(image)
    width, height = (max(step, (side + step // 2) // step * step) for side in (size.width, size.height))
    return width, height
