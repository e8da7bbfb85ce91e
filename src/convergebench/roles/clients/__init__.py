"""Clients of served models: one class per protocol, all with the same questions and the same completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convergebench.roles.clients.base import ModelClient
    from convergebench.roles.tables import RoleTable

__all__ = ["make_client"]


def make_client(table: RoleTable) -> ModelClient:
    """The client for the server of a role; loaded here, since study files are also read where nothing is sent."""
    if table.api == "gemini":
        from convergebench.roles.clients.gemini import GeminiClient

        return GeminiClient(table)
    if table.api == "anthropic":
        from convergebench.roles.clients.anthropic import AnthropicClient

        return AnthropicClient(table)
    from convergebench.roles.clients.chat import ChatClient

    return ChatClient(table)
