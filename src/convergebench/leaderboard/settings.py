"""`board.toml` beside the bundles: the maintainer's title, pinned boards, and the holders of known keys."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from convergebench.documents import Strict, read_document

SETTINGS = "board.toml"
TITLE = "Leaderboard"


class BoardPin(Strict):
    """`[[board]]`: the rules that bundles of a study and a suite must meet."""

    study: str
    suite: str
    rules: str
    """As `cbench leaderboard check` prints them."""


class BoardSettings(Strict):
    """The whole file; every part has a default."""

    title: str = TITLE
    address: str = ""
    """Where the site will be, for the feed; optional."""
    board: tuple[BoardPin, ...] = ()
    keys: dict[str, str] = Field(default_factory=dict)
    """Id of a key → who holds it, after the maintainer has made sure."""

    def pin(self, study: str, suite: str) -> BoardPin | None:
        """The pinned board of a study and a suite, if any."""
        return next((one for one in self.board if (one.study, one.suite) == (study, suite)), None)


def read_board_settings(folder: Path) -> BoardSettings:
    """The settings in a folder of bundles; defaults without the file."""
    path = folder / SETTINGS
    return read_document(path, BoardSettings) if path.exists() else BoardSettings()
