"""Base of editors that call a provider: the row of the model table, the key, the options."""

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
from convergebench.editors.models.table import ModelEntry
from convergebench.errors import BadReply, EditorError, StudyError
from convergebench.images.decode import decode, probe
from convergebench.images.encode import encode_png
from convergebench.keys import lacking_key
from convergebench.types import Edited, EditRequest
from convergebench.wire.address import require_no_secret


class RemoteOptions(Strict):
    """Options of every remote editor. Only those of subclasses change answers."""

    base_url: str = ""
    """Another address: a gateway, a region, a self-hosted server. Not part of the fingerprint."""
    key: str = ""
    """The name (never the value) of the variable that holds the key."""
    at_once: Annotated[int, Field(ge=1, le=1000)] | None = None
    per_minute: Annotated[float, Field(gt=0)] | None = None
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    dollars: Annotated[float, Field(ge=0)] | None = None
    """Price of one call, if the table has none or is out of date."""

    # errors of a single field repeat its value, and these two fields might hold a secret
    @model_validator(mode="after")
    def _holds_no_secret(self) -> Self:
        require_no_secret(self.base_url, self.key)
        return self


CIRCUMSTANCES = frozenset(RemoteOptions.model_fields)
"""Options that do not change answers."""


class RemoteEditor(BaseEditor):
    """An editor that calls a provider. Subclasses define the provider and its requests."""

    Options: ClassVar[type[RemoteOptions]] = RemoteOptions
    provider: ClassVar[str]
    """Its name in the model table."""
    keys: ClassVar[tuple[str, ...]] = ()
    """Variables that may hold the key, in order of preference."""
    key_needed: ClassVar[bool] = True
    address: ClassVar[str] = ""
    """Address of the provider, unless `base_url` overrides it."""
    needs: ClassVar[Mapping[str, str]] = {}
    """Importable package → extra that installs it."""
    takes: ClassVar[frozenset[str]] = frozenset({"image/png", "image/jpeg", "image/webp"})
    """Image types that are sent unchanged; others are converted to PNG."""
    version: ClassVar[int] = 1
    """Incremented whenever the requests change; part of the fingerprint."""

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        options = check_document(dict(given), self.Options, where=f"editor '{name}'")
        self.name, self.model, self.options = name, model, options
        self.variables = (options.key,) if options.key else self.keys
        self.base_url = (options.base_url or self.address).rstrip("/")
        identity = {key: value for key, value in options.model_dump(mode="json").items() if key not in CIRCUMSTANCES}
        self.fingerprint = ids.fingerprint(f"{self.provider}:{model.wire_id}", self.version, identity)
        self.capabilities = _changed(model.capabilities(), dollars_per_call=options.dollars)
        if options.dollars is not None:
            self.capabilities = _changed(self.capabilities, dollars_by_resolution={})
        account = (
            f"{self.provider}:{'|'.join(self.variables)}" if self.variables else f"{self.provider}:{self.base_url}"
        )
        chosen = {key: getattr(options, key) for key in ("at_once", "per_minute", "seconds")}
        self.limits = _changed(model.limits(account), **chosen)

    def lacks(self) -> list[str]:
        """Missing packages and key, or that the model was shut down."""
        if self.model.ended():
            return [f"{self.model.id} was shut down on {self.model.retires}; use {self.model.successor}"]
        missing = [
            f"{package}: pip install 'convergebench[{extra}]'"
            for package, extra in self.needs.items()
            if not _installed(package)
        ]
        return [*missing, *lacking_key(self.variables, self.provider)] if self.key_needed else missing

    def notices(self) -> list[str]:
        """Warnings about a near retirement and an unknown price."""
        lines = []
        if self.model.ends_soon():
            lines.append(f"{self.model.id} ends on {self.model.retires}; its successor is {self.model.successor}")
        if self.capabilities.dollars_per_call is None:
            lines.append(f"the price of {self.name} is unknown; set it with the option dollars = … (per call)")
        return lines

    @classmethod
    def unlisted(cls, called: str) -> ModelEntry:
        """A model that the table does not list: nothing is assumed about its capabilities and price."""
        return ModelEntry(
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
        """Price of this call by the table, for replies without a cost; 0 if unknown."""
        return self.capabilities.dollars(request.settings, len(request.history)) or 0.0

    def sendable(self, request: EditRequest) -> tuple[bytes, str]:
        """The image to send: unchanged if the provider reads its type, else converted to PNG."""
        data, mime = request.image, probe(request.image).mime
        if mime not in self.takes:
            data, mime = encode_png(decode(data, alpha="white").pixels), "image/png"
        most = self.model.bounds.megabytes
        if most is not None and len(data) > most * 1e6:
            # concerns this step only: other images and editors may work
            raise EditorError(
                f"{self.name} takes images of at most {most:g} MB, and one of {request.case or 'this case'} has "
                f"{len(data) / 1e6:.1f} MB; use smaller images"
            )
        return data, mime

    def received(self, data: bytes, *, raw: str | None = None, dollars: float = 0.0) -> tuple[bytes, str]:
        """Received bytes with their real image type, whatever the reply declares; `BadReply` if they are no image."""
        try:
            return data, probe(data).mime
        except StudyError as error:
            message = f"{self.name} sent no image: {error}"
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars) from error


def _installed(package: str) -> bool:
    """Whether it can be imported; an installed `google` need not include `google.genai`."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def data_uri(data: bytes, mime: str) -> str:
    """Bytes as a `data:` address."""
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def _changed(value: Any, **changes: Any) -> Any:
    """A frozen dataclass with these fields changed; None leaves a field as it is."""
    return replace(value, **{name: change for name, change in changes.items() if change is not None})
