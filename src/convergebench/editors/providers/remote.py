"""What editors behind a provider's interface have in common: the row of the model table, the key, the options."""

from __future__ import annotations

import base64
import importlib.util
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.base import BaseEditor
from convergebench.editors.models.table import Model
from convergebench.errors import BadReply, EditorError, StudyError
from convergebench.images.decode import decode, probe
from convergebench.images.encode import encode_png
from convergebench.keys import lacking_key
from convergebench.types import Edited, EditRequest
from convergebench.wire.address import require_no_secret


class RemoteOptions(Strict):
    """Options that every editor behind a provider takes. Only those of its subclasses change answers."""

    base_url: str = ""
    """Another address: a gateway, a region, a server of one's own. Not part of the editor's identity."""
    key: str = ""
    """The name (never the value) of the variable that holds the key."""
    at_once: Annotated[int, Field(ge=1, le=1000)] | None = None
    per_minute: Annotated[float, Field(gt=0)] | None = None
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    dollars: Annotated[float, Field(ge=0)] | None = None
    """What one call costs, where the table does not know or is out of date."""

    # a field's own fault is told with what was given; these two might have been given a secret
    @model_validator(mode="after")
    def _no_secret_stands_here(self) -> Self:
        require_no_secret(self.base_url, self.key)
        return self


CIRCUMSTANCES = frozenset(RemoteOptions.model_fields)
"""Options that say where and how fast, not what."""


class RemoteEditor(BaseEditor):
    """An editor behind a provider. Subclasses say who the provider is and how one edit is asked for."""

    Options: ClassVar[type[RemoteOptions]] = RemoteOptions
    provider: ClassVar[str]
    """As in the model table."""
    keys: ClassVar[tuple[str, ...]] = ()
    """Variables that may hold the key, first one first."""
    key_needed: ClassVar[bool] = True
    address: ClassVar[str] = ""
    """Where the provider is, unless `base_url` says otherwise."""
    needs: ClassVar[Mapping[str, str]] = {}
    """Importable package → extra that brings it."""
    takes: ClassVar[frozenset[str]] = frozenset({"image/png", "image/jpeg", "image/webp"})
    """What can be sent as it is; anything else is sent as PNG of the same pixels."""
    version: ClassVar[int] = 1
    """Raised when other things are sent than before."""

    def __init__(self, name: str, model: Model, given: Mapping[str, Any]) -> None:
        options = check_document(dict(given), self.Options, where=f"editor '{name}'")
        self.name, self.model, self.options = name, model, options
        self.variables = (options.key,) if options.key else self.keys
        self.base_url = (options.base_url or self.address).rstrip("/")
        identity = {key: value for key, value in options.model_dump(mode="json").items() if key not in CIRCUMSTANCES}
        self.fingerprint = ids.fingerprint(f"{self.provider}:{model.wire_id}", self.version, identity)
        self.capabilities = _with(model.capabilities(), dollars_per_call=options.dollars)
        if options.dollars is not None:
            self.capabilities = _with(self.capabilities, dollars_by_resolution={})
        account = (
            f"{self.provider}:{'|'.join(self.variables)}" if self.variables else f"{self.provider}:{self.base_url}"
        )
        chosen = {key: getattr(options, key) for key in ("at_once", "per_minute", "seconds")}
        self.limits = _with(model.limits(account), **chosen)

    def lacks(self) -> list[str]:
        """Packages and the key; a model that has ended lacks life."""
        if self.model.ended():
            return [f"{self.model.id} was shut down on {self.model.retires}; use {self.model.successor}"]
        missing = [
            f"{package}: pip install 'convergebench[{extra}]'"
            for package, extra in self.needs.items()
            if not _installed(package)
        ]
        return [*missing, *lacking_key(self.variables, self.provider)] if self.key_needed else missing

    def notices(self) -> list[str]:
        """An end that is near, and a price that nobody knows."""
        told = []
        if self.model.ends_soon():
            told.append(f"{self.model.id} ends on {self.model.retires}; its successor is {self.model.successor}")
        if self.capabilities.dollars_per_call is None:
            told.append(f"nobody knows what {self.name} costs; say it with the option dollars = … (per call)")
        return told

    @classmethod
    def unlisted(cls, called: str) -> Model:
        """A model of this provider that the table does not know: nothing is assumed of it, its price least of all."""
        return Model(
            id=f"{cls.provider}:{called}",
            provider=cls.provider,
            called=called,
            about="not in the table of models",
            licence="see its provider",
        )

    @abstractmethod
    async def edit(self, request: EditRequest) -> Edited:
        """One edit."""

    def price(self, request: EditRequest) -> float:
        """What this call costs by the table, for providers whose replies do not say; 0 where nobody knows."""
        return self.capabilities.dollars(request.settings, len(request.history)) or 0.0

    def sendable(self, request: EditRequest) -> tuple[bytes, str]:
        """The image as it may be sent: its own bytes where the provider reads them, else PNG of the same pixels."""
        data, mime = request.image, probe(request.image).mime
        if mime not in self.takes:
            data, mime = encode_png(decode(data, alpha="white").pixels), "image/png"
        most = self.model.bounds.megabytes
        if most is not None and len(data) > most * 1e6:
            # of this step alone: the next image, and every other editor, may be fine
            raise EditorError(
                f"{self.name} takes images of at most {most:g} MB, and one of {request.case or 'this case'} has "
                f"{len(data) / 1e6:.1f} MB; use smaller images"
            )
        return data, mime

    def received(self, data: bytes, *, raw: str | None = None, dollars: float = 0.0) -> tuple[bytes, str]:
        """Bytes that came back with the type they really have, whatever they were said to be; or `BadReply`."""
        try:
            return data, probe(data).mime
        except StudyError as error:
            message = f"{self.name} sent no image: {error}"
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars) from error


def _installed(package: str) -> bool:
    """Whether it can be imported; `google` alone may belong to another package than `google.genai`."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def data_uri(data: bytes, mime: str) -> str:
    """Bytes as an address that carries them."""
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def _with(value: Any, **changes: Any) -> Any:
    """A frozen dataclass with these fields changed; None leaves a field as it is."""
    return replace(value, **{name: change for name, change in changes.items() if change is not None})
