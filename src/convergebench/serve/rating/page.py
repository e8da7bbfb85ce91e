"""The page, its style sheet and its script: files of this package, without a build step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from convergebench.serve.look import report_style
from convergebench.serve.rating.wording import asked, panes

TEMPLATES = Path(__file__).parent / "templates"

SECONDS = {"axes": 30, "label": 20}
"""About how long one item takes, by mode; others ten seconds."""


class RaterPages:
    """The texts that a browser loads."""

    def __init__(self, mode: str, questions: Mapping[str, Sequence[float]], *, study: str, show_clean: bool) -> None:
        found = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._page, self._message = found.get_template("rating.html"), found.get_template("message.html")
        self._context: dict[str, Any] = {
            "mode": mode,
            "questions": asked(mode, questions, study),
            "names": panes(study, mode),
            "restoration": study == "restoration",
            "show_clean": show_clean,
        }
        self.script = (TEMPLATES / "rating.js").read_text(encoding="utf-8")
        self.style = report_style() + (TEMPLATES / "rating.css").read_text(encoding="utf-8")

    def page(self, base: str, csrf: str, count: int) -> str:
        """The page of one rater, below the address `base`."""
        return self._page.render(**self._context, base=base, csrf=csrf, count=count, minutes=self._minutes(count))

    def _minutes(self, count: int) -> int:
        """About how long it takes."""
        return max(1, round(count * SECONDS.get(self._context["mode"], 10) / 60))

    def message(self, words: str) -> str:
        """A page with one sentence."""
        return self._message.render(words=words)
