"""Links that leave `docs/`: the files of the repository that pages link to become pages of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOP = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "SECURITY.md": "security.md",
}
"""File at the top of the repository → its page."""
LINK = re.compile(r"(?<=\]\()(?P<file>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")
_FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)
_NOTE = re.compile(r"- \[(?P<title>[^\]]+)\]\((?P<file>[\w-]+\.md)\)")
_LANGUAGES = {".toml": "toml", ".py": "python", ".json": "json", ".yml": "yaml"}


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied to what stands outside fenced blocks."""
    return "".join(part if part.startswith("```") else change(part) for part in _FENCED.split(text))


def origin(page: str) -> str:
    """Where in the repository a page of the site comes from: `audit.md` → `docs/audit.md`."""
    return next((file for file, made in TOP.items() if made == page), f"docs/{page}")


def place(file: str) -> str:
    """Where on the site a file of the repository is."""
    if file in TOP:
        return TOP[file]
    if file.startswith("docs/"):
        return file.removeprefix("docs/").removesuffix(".ipynb") + (".md" if file.endswith(".ipynb") else "")
    return f"repository/{file}.md"


def relinked(text: str, page: str) -> str:
    """A page whose links lead to where the site has those files."""
    folder = posixpath.dirname(origin(page))

    def link(match: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(folder, match["file"]))
        if "://" in match["file"] or not (ROOT / file).is_file():
            return match[0]  # MkDocs names what leads nowhere
        return posixpath.relpath(place(file), posixpath.dirname(page) or ".") + (match["anchor"] or "")

    return outside_code(text, lambda part: LINK.sub(link, part))


def linked_files() -> Iterator[str]:
    """Files outside `docs/` that some page links to, once each; those of the top that are pages are not among them."""
    found = set()
    for path in (*(ROOT / name for name in TOP), *(ROOT / "docs").rglob("*.md")):
        for match in LINK.finditer(path.read_text(encoding="utf-8")):
            target = (path.parent / match["file"]).resolve()
            if target.is_file() and target.is_relative_to(ROOT):
                found.add(target.relative_to(ROOT).as_posix())
    yield from sorted(file for file in found if file not in TOP and not file.startswith("docs/"))


def as_page(file: str) -> str:
    """A file of the repository as a page that shows it."""
    text = (ROOT / file).read_text(encoding="utf-8").rstrip()
    fence = "`" * 6
    head = f"# {posixpath.basename(file)}\n\n`{file}` in the repository.\n\n"
    return f"{head}{fence}{_LANGUAGES.get(posixpath.splitext(file)[1], 'text')}\n{text}\n{fence}\n"


def design_notes() -> list[dict[str, list[dict[str, str]]]]:
    """The notes as entries of the navigation: heading → title → page."""
    found: list[dict[str, list[dict[str, str]]]] = []
    for line in (ROOT / "docs" / "design" / "README.md").read_text(encoding="utf-8").splitlines():
        if note := _NOTE.match(line):
            (pages,) = found[-1].values()
            pages.append({note["title"]: f"design/{note['file']}"})
        elif line.endswith(":"):
            found.append({line.removesuffix(":"): []})
    return found
