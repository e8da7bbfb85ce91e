"""`cbench leaderboard`: check result bundles, and build a static site from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convergebench.leaderboard.checking import CheckedBundle

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Check result bundles; build a site from them.")


@app.command()
def check(
    bundles: Annotated[list[Path], typer.Argument(metavar="BUNDLE…", help="Bundle files, or folders of them.")],
    challenge: Annotated[
        str | None, typer.Option(help="The word you gave the submitter; the sample images must be those it asks for.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Validate bundles: archive, checksums, hash chain, signature, versions, cases, tables; measure samples again."""
    import json

    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.leaderboard import check as check_bundles

    terminal = Terminal()
    found = check_bundles(bundles, challenge=challenge, watch=None if as_json else lambda one: _say(terminal, one))
    if as_json:
        terminal.say(json.dumps([_document(one) for one in found], ensure_ascii=False, indent=1))
    elif not found:
        terminal.say("no bundle here; make one with: cbench submit RUN")
    if any(not one.accepted for one in found):
        raise typer.Exit(1)


@app.command()
def build(
    folder: Annotated[Path, typer.Argument(metavar="BUNDLES", help="Folder with the bundles, and board.toml if any.")],
    into: Annotated[Path, typer.Option("--into", help="Folder of the site; an earlier one is replaced.")] = Path(
        "site"
    ),
) -> None:
    """Write a static site: rankings on common cases with intervals, a page per model, data files and a feed."""
    from convergebench.cli.terminal import Terminal
    from convergebench.conductor.leaderboard import build as build_site

    terminal = Terminal()
    made = build_site(folder, into, watch=lambda one: None if one.accepted else _say(terminal, one))
    counts = [f"{made.models} models", f"{made.accepted} bundles accepted"]
    counts += [
        f"{number} {word}"
        for number, word in ((made.rejected, "rejected"), (made.not_compared, "not compared"))
        if number
    ]
    terminal.say(", ".join(counts))
    terminal.say(f"page    {made.index}")


def _say(terminal: object, one: CheckedBundle) -> None:
    from convergebench.leaderboard.boards import rules_of
    from convergebench.texts import one_line

    say = terminal.say  # type: ignore[attr-defined]
    if not one.accepted:
        say(f"{one_line(one.name)}: rejected")
        for fault in one.faults:
            say(f"  {one_line(fault)}")
        return
    assert one.bundle is not None
    signed = f"signed by {one.key}" if one.key else "unsigned"
    labels = "; ".join(label for label in one.labels if label != "unsigned")
    say(
        f"{one_line(one.name)}: accepted, {signed}, {one.remeasured} values measured again"
        + (f"; {labels}" if labels else "")
    )
    rules = rules_of(one.bundle)
    size = f"{len(rules.cases)} cases, {rules.rounds} rounds"
    say(f"  board {rules.hash}: {rules.study} on {one_line(rules.suite)}, {size}")


def _document(one: CheckedBundle) -> dict[str, object]:
    from convergebench.leaderboard.boards import rules_of

    return {
        "file": one.name,
        "accepted": one.accepted,
        "reasons": list(one.faults),
        "labels": list(one.labels),
        "key": one.key or None,
        "head": one.head or None,
        "values_measured_again": one.remeasured,
        "board": rules_of(one.bundle).hash if one.accepted and one.bundle else None,
    }
