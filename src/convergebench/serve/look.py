"""The style sheets of reports, in light and dark, for pages that should look like them.

They are only read as files; the code that writes reports is not needed here.
"""

from __future__ import annotations

from pathlib import Path

TEMPLATES = Path(__file__).parents[1] / "report" / "templates"


def report_style(*, light: str = "", dark: str = "") -> str:
    """The style sheet of reports with more variables for each of the two themes."""
    look, night = (report_file(name) for name in ("report.css", "dark.css"))
    night += dark
    own = f"\n:root{{ {light} }}" if light else ""
    return (
        f"{look}{own}\n@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{ {night} }}}}\n"
        f"@media screen{{:root[data-theme=dark]{{ {night} }}}}\n"
    )


def report_file(name: str) -> str:
    """A style sheet of reports."""
    return (TEMPLATES / name).read_text(encoding="utf-8")
