"""What is known of each protocol before anything is sent: its address, its key, and what its requests can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class ApiFacts:
    """One protocol: the value of `api` in a role's table."""

    reserved: frozenset[str]
    """Keys of a request that have their own field in the table, or would change the form of a reply; dots go into
    tables within it."""
    endings: tuple[str, ...]
    """What an address ends with if it was copied too far."""
    details: frozenset[str]
    """The values of `detail` that can be sent."""
    absent: tuple[str, ...] = ()
    """Fields of the table that this protocol has no place for."""
    needs_limit: bool = False
    """Whether every request must have `max_tokens`."""
    base_url: str = ""
    """The provider's own address; empty: there is no single provider."""
    key: str = ""
    """The variable that the provider's customers put their key into."""


APIS: Mapping[str, ApiFacts] = {
    "openai": ApiFacts(
        reserved=frozenset(
            {"model", "messages", "response_format", "temperature", "seed", "max_tokens", "stream", "n"}
        ),
        endings=("/completions",),
        details=frozenset({"auto", "low", "high", "original"}),
    ),
    "gemini": ApiFacts(
        reserved=frozenset(
            {"contents", "systemInstruction", "system_instruction", "generation_config"}
            | {
                f"generationConfig.{name}"
                for name in (
                    "temperature", "seed", "maxOutputTokens", "candidateCount", "mediaResolution", "responseMimeType",
                    "responseSchema", "responseJsonSchema", "responseModalities",
                )
            }
        ),
        endings=("/models", ":generateContent"),
        details=frozenset({"low", "high"}),
        base_url="https://generativelanguage.googleapis.com/v1",
        key="GEMINI_API_KEY",
    ),
    "anthropic": ApiFacts(
        reserved=frozenset(
            {
                "model", "messages", "system", "max_tokens", "temperature", "top_p", "top_k", "stream", "tools",
                "tool_choice", "output_format", "output_config.format",
            }
        ),
        endings=("/messages",),
        details=frozenset({"original"}),
        absent=("temperature", "seed"),
        needs_limit=True,
        base_url="https://api.anthropic.com/v1",
        key="ANTHROPIC_API_KEY",
    ),
}  # fmt: skip


def with_address(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """A role's table with the address and the key's variable that follow from its `api`.

    The provider's key goes to the provider's own host only: another server is sent a key if the table names one.
    """
    api = table.get("api")
    facts = APIS.get(api) if isinstance(api, str) else None
    if facts is None or not facts.base_url or table.get("kind") != "served":
        return table
    base_url = table.get("base_url") or facts.base_url
    if not isinstance(base_url, str) or _host(base_url) != _host(facts.base_url):
        return table
    return {**table, "base_url": base_url, "key": table.get("key") or facts.key}


def _host(address: str) -> tuple[str, str]:
    """Scheme and host with port: a key must not follow to another port, or over plain HTTP."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", ""
    return parts.scheme.lower(), parts.netloc.lower()
