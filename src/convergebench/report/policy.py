"""The Content-Security-Policy of a page: only the scripts and styles that we embed are allowed."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable


def policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """The policy of a page with these inline scripts and style sheets, exactly as between their tags.

    `strict-dynamic` lets our scripts load the panels and chains beside the page, but no script of the markup: a page
    opened from disk has no other origin to name. Style attributes hold numbers of charts and tables (a width, a shade),
    so they are allowed; they cannot load anything that `default-src` and `img-src` forbid.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hashes(scripts)} 'strict-dynamic'",
            "style-src 'unsafe-inline'",  # for browsers that do not know the next two
            f"style-src-elem {_hashes(styles)}",
            "style-src-attr 'unsafe-inline'",
            "img-src 'self' file: data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hashes(texts: Iterable[str]) -> str:
    digests = (hashlib.sha256(text.encode("utf-8")).digest() for text in texts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
