"""Which environment variables may hold a key.

A study file or a run only names a variable, and its value is sent to a server. So the name must be one that a provider
of models uses, one of this package's own, or one that the user has listed: a file from another person cannot have
AWS_SECRET_ACCESS_KEY sent away as if it were a model's key.
"""

from __future__ import annotations

import os
import re

LIST = "CONVERGEBENCH_KEYS"
"""The user's own list: variable names separated by commas."""
OF_PROVIDERS = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ARK_API_KEY",
        "BFL_API_KEY",
        "DASHSCOPE_API_KEY",
        "DEEPSEEK_API_KEY",
        "FAL_KEY",
        "FIREWORKS_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GROQ_API_KEY",
        "HF_TOKEN",
        "MISTRAL_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "REPLICATE_API_TOKEN",
        "TOGETHER_API_KEY",
        "XAI_API_KEY",
    }
)
"""Variables that providers of models document, and that give access to nothing but models."""
OWN = ("CONVERGEBENCH_", "CBENCH_")
"""Prefixes of this package's own variables."""
SETTINGS = frozenset({LIST, "CONVERGEBENCH_CACHE", "CONVERGEBENCH_WEIGHTS"})
"""Settings of this package, which hold no key."""

_SPELT_OUT = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
"""`MY_LOGIN`: words in capitals, which cannot be a key and so may be shown."""


def is_allowed(name: str) -> bool:
    """Whether the variable of this name may be read and sent as a key."""
    if name in OF_PROVIDERS or name in listed():
        return True
    return name not in SETTINGS and any(name.startswith(start) and name != start for start in OWN)


def listed() -> frozenset[str]:
    """The names that the user has listed."""
    return frozenset(word.strip() for word in os.environ.get(LIST, "").split(",")) - {""}


def how_to_allow(name: str) -> str:
    """Error message for a name that is not allowed; a name that might be a key is not repeated."""
    shown = name if _SPELT_OUT.fullmatch(name) else "THE_NAME"
    more = f'"${LIST},{shown}"' if listed() else shown
    what = f"key names the environment variable {shown}" if shown == name else "key names an environment variable"
    return (
        f"{what}, which no known provider of models uses, so it is not sent; if it is meant for that server: "
        f"export {LIST}={more} (or use a name that begins with {OWN[0]})"
    )
