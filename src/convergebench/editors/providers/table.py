"""Provider name in the model table → class of its editors."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from convergebench.errors import Prerequisite, StudyError
from convergebench.registry import suggest

if TYPE_CHECKING:
    from convergebench.editors.providers.remote import RemoteEditor

PROVIDERS: dict[str, str] = {
    "google": "convergebench.editors.providers.gemini:GeminiEditor",
    "openai": "convergebench.editors.providers.openai.images:OpenAIImagesEditor",
    "openai-responses": "convergebench.editors.providers.openai.responses:OpenAIResponsesEditor",
    "bfl": "convergebench.editors.providers.bfl:BlackForestLabsEditor",
    "fal": "convergebench.editors.providers.fal:FalEditor",
    "replicate": "convergebench.editors.providers.replicate:ReplicateEditor",
    "dashscope": "convergebench.editors.providers.dashscope:DashScopeEditor",
    "ark": "convergebench.editors.providers.ark:ArkEditor",
    "xai": "convergebench.editors.providers.xai:XAIEditor",
    "compatible": "convergebench.editors.providers.compatible:CompatibleEditor",
    "comfyui": "convergebench.editors.providers.comfyui:ComfyUIEditor",
    "automatic1111": "convergebench.editors.providers.automatic1111:Automatic1111Editor",
}
"""Also the word before the colon in `fal:fal-ai/flux-pro/kontext`: any model of a provider, in the table or not."""


def provider_class(provider: str) -> type[RemoteEditor]:
    """The editor class of a provider; its module is imported only now."""
    target = PROVIDERS.get(provider)
    if target is None:
        raise StudyError(f"unknown provider '{provider}'{suggest(provider, PROVIDERS)} (known: {', '.join(PROVIDERS)})")
    module, _, attribute = target.partition(":")
    try:
        found: type[RemoteEditor] = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise Prerequisite(f"provider '{provider}' cannot be loaded: {error}") from error
    return found
