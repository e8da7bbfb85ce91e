"""`cbench claims`: do the figures bear out what is said about them?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from convergebench.claims.check import ClaimResult, ClaimResults
    from convergebench.claims.read import ClaimFile


def claims(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claim files (shipped ones by name, your own by path) and run directories, in any order.",
            metavar="FILE|RUN",
            show_default=False,
        ),
    ] = None,
    claim: Annotated[list[str] | None, typer.Option(help="Check only the claim with this id; repeatable.")] = None,
    name: Annotated[
        list[str] | None, typer.Option(help="WORD=NAME: the name in your runs of what a claim file calls $WORD.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the results to a file: .md, .csv or .json.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 if a claim does not hold.")] = False,
) -> None:
    """Check claims of papers against the papers' own tables and against your runs."""
    from convergebench.claims.check import check
    from convergebench.claims.output import as_json as to_json
    from convergebench.claims.output import check_output_path, write
    from convergebench.cli.console import PlainConsole
    from convergebench.cli.display import say

    if out is not None:
        check_output_path(out)
    files, runs = _sorted_out(what or [], name or [])
    checked = check(_chosen(files, claim or []), runs)
    if as_json:
        say(to_json(checked).rstrip("\n"))
    else:
        _print(checked, PlainConsole())
    if out is not None:
        write(checked, out)
        if not as_json:
            say(f"written  {out}")
    if strict and checked.counts()["does not hold"]:
        raise typer.Exit(1)


def _sorted_out(what: Sequence[str], named: Sequence[str]) -> tuple[list[ClaimFile], list[Path]]:
    """Which words are claim files and which are runs; without a claim file, all that are shipped."""
    from convergebench.claims.read import SHIPPED, find, read_claims
    from convergebench.errors import StudyError
    from convergebench.registry import suggest
    from convergebench.store.outside import require_inside
    from convergebench.store.run import is_run

    files = [word for word in what if word in SHIPPED or word.endswith(".toml")]
    runs = [Path(word) for word in what if word not in files]
    for run in runs:
        if not run.is_dir():
            near = suggest(str(run), SHIPPED) or f" (shipped claim files: {', '.join(SHIPPED)})"
            raise StudyError(f"'{run}' is neither a claim file nor the folder of a run{near}")
        if is_run(run):
            require_inside(run)
    paths = list(dict.fromkeys(find(word) for word in files or SHIPPED))
    names = _names(named, paths)
    return [read_claims(path, names) for path in paths], list(dict.fromkeys(runs))


def _names(named: Sequence[str], paths: Sequence[Path]) -> dict[str, str]:
    from convergebench.claims.read import names_of
    from convergebench.errors import StudyError
    from convergebench.registry import suggest

    known = [word for path in paths for word in names_of(path)] if named else []
    found: dict[str, str] = {}
    for one in named:
        word, equals, meant = one.partition("=")
        if not equals or not meant:
            raise StudyError(f"--name {one}: use WORD=NAME, e.g. --name {known[0] if known else 'qwen'}=my-editor")
        if word not in known:
            near = suggest(word, known) or (f" (there are {', '.join(known)})" if known else "")
            raise StudyError(f"--name {one}: no claim file here has the name '{word}'{near}")
        found[word] = meant
    return found


def _chosen(files: Sequence[ClaimFile], names: Sequence[str]) -> list[ClaimFile]:
    """The files with only the claims that are asked for."""
    from dataclasses import replace

    from convergebench.errors import StudyError
    from convergebench.registry import suggest

    known = [one.id for file in files for one in file.claims]
    for identity in names:
        if identity not in known:
            raise StudyError(f"there is no claim '{identity}' here{suggest(identity, known)}")
    if not names:
        return list(files)
    return [replace(file, claims=tuple(one for one in file.claims if one.id in names)) for file in files]


def _print(checked: ClaimResults, console: Console) -> None:
    from convergebench.claims.check import counts_of
    from convergebench.claims.output import by_tables, summary
    from convergebench.claims.read import SHIPPED
    from convergebench.cli.display import say

    groups = by_tables(checked.results)
    for tables, results in groups.items():
        if len(groups) > 1 or tables != "paper":
            say("on the papers' own tables" if tables == "paper" else f"on {tables}")
        _print_table(results, console)
        say(f"\n{summary(counts_of(results))}" + ("\n" if tables != list(groups)[-1] else ""))
    if not groups:
        say("no claim here is about a paper's tables")
    for run in checked.unused_runs:
        say(f"{run} has none of the tables that these claims use")
    if checked.waiting:
        names = sorted({name for name, _ in checked.waiting})
        more = "more wait" if len(checked.waiting) > 1 else "more waits"
        words = ["RUN"] if names == sorted(SHIPPED) else [*names, "RUN"]  # without a file, all that are shipped
        say(f"{len(checked.waiting)} {more} for a run: cbench claims {' '.join(words)}")


def _print_table(results: Sequence[ClaimResult], console: Console) -> None:
    """Sentence and evidence side by side; both break their lines, so that all fits 80 columns."""
    from rich.table import Table
    from rich.text import Text

    from convergebench.claims.output import evidence_of
    from convergebench.texts import one_line

    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("claim", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("sentence", ratio=1, overflow="fold")
    table.add_column("evidence", ratio=1, overflow="fold")
    style = {"holds": "", "does not hold": "bold", "cannot be told": "dim"}
    for result in results:
        cells = (result.claim.id, result.verdict, result.claim.sentence, evidence_of(result, 2))
        table.add_row(*(Text(one_line(cell), style=style[result.verdict]) for cell in cells))
    console.print(table)
