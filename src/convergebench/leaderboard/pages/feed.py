"""`feed.xml`: an Atom entry for every submission, so that readers are told of changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

from convergebench.leaderboard.pages.names import page_of
from convergebench.leaderboard.pages.view import BoardView
from convergebench.leaderboard.settings import BoardSettings

MOST = 100
NEVER = "1970-01-01T00:00:00Z"


def feed(views: Sequence[BoardView], settings: BoardSettings) -> str:
    """The newest submissions of all boards; dates are those of the runs, so equal bundles give an equal feed."""
    found = [(one, view) for view in views for one in (*view.board.entries, *view.board.older)]
    found.sort(key=lambda each: (each[0].loaded.finished, each[0].identity), reverse=True)
    base = settings.address.rstrip("/")
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{escape(_legal(settings.title))}</title>",
        "<id>urn:convergebench:leaderboard</id>",
        f"<updated>{_moment(found[0][0].loaded.finished) if found else NEVER}</updated>",
        *([f"<link href={quoteattr(base + '/')}/>"] if base else []),
    ]
    for one, view in found[:MOST]:
        link = page_of(one.name)
        kind = "simulated editor" if one.simulated else "model"
        lines += [
            "<entry>",
            f"<title>{escape(_legal(f'{one.name} on {view.title}'))}</title>",
            f"<id>urn:convergebench:entry:{one.identity}</id>",
            f"<updated>{_moment(one.loaded.finished)}</updated>",
            f"<link href={quoteattr(f'{base}/{link}' if base else link)}/>",
            f"<author><name>{escape(_legal(one.loaded.submitter))}</name></author>",
            f"<summary>{escape(_legal(f'Submission of the {kind} {one.name}.'))}</summary>",
            "</entry>",
        ]
    return "\n".join([*lines, "</feed>"]) + "\n"


def _moment(text: str) -> str:
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _legal(text: str) -> str:
    """Without characters that XML does not allow."""
    return "".join(letter for letter in text if letter.isprintable())
