"""Writes a bundle: a folder of LaTeX that compiles as it is, and whose parts can be used in another document."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.report.booktabs import escape, table
from convergebench.report.bundle.numbers import NUMBER, macros, named_numbers, slugs
from convergebench.report.bundle.tables import placed, run_tables
from convergebench.report.bundle.texts import BIB, MAIN, README
from convergebench.report.input import ReportInput
from convergebench.report.output import write_whole
from convergebench.report.plots import charts, write_figures
from convergebench.report.titles import study_title
from convergebench.report.wording import interval, number

RECORD = "bundle.json"
"""Lists the files of a bundle with their hashes: which folder is one, and what was edited by hand."""
MOST_SENTENCES = 6
AT_ONCE = 6
"""Tables or figures before a page break: LaTeX can hold only about fifty that have no place yet."""


@dataclass(frozen=True)
class WrittenBundle:
    """A bundle on the disk: its folder, how many tables, figures and numbers, and files that were left as edited."""

    folder: Path
    tables: int
    figures: int
    numbers: int
    kept: tuple[str, ...] = ()


def check_folder(into: Path, runs: Sequence[Path] = ()) -> dict[str, str]:
    """The record of the bundle in this folder; `StudyError` if the folder holds anything else."""
    if into.is_symlink() or (into.exists() and not into.is_dir()):
        raise StudyError(f"--into {into}: this is not a folder; name a new one")
    if any(into.resolve() == run.resolve() for run in runs):
        raise StudyError(f"--into {into}: this is the run itself; name a new folder")
    record = into / RECORD
    if record.is_file() and not record.is_symlink():
        try:
            found = json.loads(record.read_text(encoding="utf-8"))["files"]
            return {str(name): str(value) for name, value in found.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StudyError(f"{record} cannot be read; name a new folder with --into") from error
    if into.is_dir() and any(into.iterdir()):
        raise StudyError(f"--into {into}: this folder holds other files; name a new one")
    return {}


def write_bundle(runs: Mapping[str, ReportInput], into: Path, command: str) -> WrittenBundle:
    """Write the bundle of these runs (name → what a report shows); files edited by hand are left as they are."""
    before = check_folder(into, [given.run for given in runs.values()])
    names = slugs(list(runs))
    into.mkdir(parents=True, exist_ok=True)
    _record(into, before)  # first: a kill leaves a folder that is known as a bundle
    texts: dict[str, str] = {}
    files: dict[str, str] = dict(before)
    counted, defined = [0, 0, 0], [NUMBER]
    for name, given in runs.items():
        run = names[name]
        found = run_tables(given)
        drawn = list(charts(given))
        pictures = write_figures(drawn, into / run / "figures", ["pdf"])
        files.update({path.relative_to(into).as_posix(): _hash(path.read_bytes()) for path in pictures})
        titles = [str(getattr(chart, "title", "")) for _, chart in drawn]
        values = dict(named_numbers(given))
        defined.append(macros(run, values))
        texts |= {f"{run}/tables/{table_name}.tex": placed(text, run) for table_name, text in found.items()}
        texts[f"{run}/section.tex"] = section(given, run, list(found), list(zip(pictures, titles, strict=True)))
        texts[f"{run}/numbers.md"] = _listed(run, values)
        counted = [one + more for one, more in zip(counted, (len(found), len(pictures), len(values)), strict=True)]
    texts["macros.tex"] = "\n".join(defined)
    texts["credits.tex"] = credits(runs.values())
    texts["citation.bib"] = BIB.render()
    texts["overview.tex"] = overview(runs) if len(runs) > 1 else "% one run: no overview\n"
    texts["main.tex"] = MAIN.format(inputs="\n".join(rf"\input{{\cbroot/{names[name]}/section}}" for name in runs))
    texts["README.md"] = README.format(command=command, runs=", ".join(f"`{names[name]}`" for name in runs))
    kept = tuple(name for name in texts if _edited(into / name, before.get(name)))
    for name, text in texts.items():
        files[name] = before[name] if name in kept else _hash(text.encode())
    for name, text in texts.items():
        if name not in kept:
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(into / name, text)
    _record(into, files)
    tables, figures, numbers = counted
    return WrittenBundle(into, tables, figures, numbers, kept)


def _record(into: Path, files: Mapping[str, str]) -> None:
    write_whole(into / RECORD, json.dumps({"files": dict(files)}, indent=1, sort_keys=True) + "\n")


def section(given: ReportInput, run: str, tables: Sequence[str], figures: Sequence[tuple[Path, str]]) -> str:
    """What one run shows: its finding in words, its tables, its figures."""
    lines = [rf"\section{{{escape(study_title(given.manifest))}}}", rf"\label{{sec:{run}}}", ""]
    lines += [escape(sentence) for sentence in given.analysis.headline[:MOST_SENTENCES]]
    lines.append("")
    for place, name in enumerate(tables):
        lines += [r"\clearpage"] if place and place % AT_ONCE == 0 else []
        lines.append(rf"\input{{\cbroot/{run}/tables/{name}}}")
    lines.append("")
    for place, (path, title) in enumerate(figures):
        lines += [r"\clearpage", ""] if place % AT_ONCE == 0 else []
        lines += [
            r"\begin{figure}[htbp]", r"  \centering",
            rf"  \includegraphics[width=0.8\linewidth]{{\cbroot/{run}/figures/{path.stem}}}",
            rf"  \caption{{{escape(title or path.stem.replace('-', ' '))}}}", rf"  \label{{fig:{run}-{path.stem}}}",
            r"\end{figure}", "",
        ]  # fmt: skip
    return "\n".join([*lines, r"\clearpage", ""])


def overview(runs: Mapping[str, ReportInput]) -> str:
    """Scores and half-lives of several runs in one table. They are not compared: cases may differ."""
    body: list[list[str]] = []
    for name, given in runs.items():
        body += [[]] if body else []
        for row in given.ranked:
            score = [number(row["score"], 1), interval(row["low"], row["high"], 1)]
            body.append([name, given.marked(row["editor"]), *score, row["half_life"] or "–", str(row["n_sources"])])
    caption = (
        "Scores of several runs. Cases, edits and metrics may differ between runs, so rows of different runs are not "
        "compared; cbench compare does that on what two runs have in common."
    )
    head = ["run", "editor", "C ↑", "interval", "half-life ↑", "images"]
    return placed(table("overview", "llrlrr", head, body, caption), "all")


def credits(runs: Iterable[ReportInput]) -> str:
    """The source images with the credit that their licences ask for."""
    lines: dict[str, str] = {}
    for given in runs:
        for name, facts in (given.manifest.get("sources") or {}).items():
            credit = facts.get("credit") or facts.get("source") or "source not stated"
            lines[str(name)] = f"{credit} (licence: {facts.get('licence') or 'not stated'})"
    items = [rf"  \item \texttt{{{escape(name)}}}: {escape(text)}" for name, text in sorted(lines.items())]
    if not items:
        return "% no source images\n"
    return "\n".join([r"\begin{itemize}\footnotesize", *items, r"\end{itemize}", ""])


def _listed(run: str, numbers: Mapping[str, str]) -> str:
    lines = [f"# Numbers of {run}", "", "| name | value |", "| --- | --- |"]
    lines += [f"| `{run}.{name}` | {text.replace('|', '/')} |" for name, text in numbers.items()]
    return "\n".join([*lines, ""])


def _edited(path: Path, known: str | None) -> bool:
    """Whether a file was changed since the bundle was written; a file that was never ours counts as edited."""
    return path.is_file() and _hash(path.read_bytes()) != known


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
