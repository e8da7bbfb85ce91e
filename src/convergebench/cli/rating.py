"""`cbench rate`: let people rate the pictures of a run, on a page of this computer."""

from __future__ import annotations

import os
import socket
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from convergebench.conductor.rating_collect import RatingsCollected
    from convergebench.conductor.rating_setup import RatingBegun

PORT = 8017


def rate(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    mode: Annotated[
        str | None, typer.Option(help="score (0 to 5), pairs, axes (four scales) or label (failures) [default: score]")
    ] = None,
    plan: Annotated[str | None, typer.Option(help="Name of the rating [default: its mode]")] = None,
    raters: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Number of raters, one link each [default: 1]")
    ] = None,
    images: Annotated[
        int | None, typer.Option(min=1, help="Number of images, balanced over kinds [default: all]")
    ] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, comma-separated [default: all]")] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="The design of the paper: 20 raters score 20 images of 5 methods.")
    ] = False,
    items: Annotated[int | None, typer.Option(min=1, help="Largest number of items per rater [default: all]")] = None,
    round_number: Annotated[
        int | None,
        typer.Option("--round", min=1, help="Round whose result is shown [default: 1; for round trips the last]"),
    ] = None,
    repeats: Annotated[
        float | None, typer.Option(min=0, max=0.3, help="Share of items shown twice [default: 0.1]")
    ] = None,
    attention: Annotated[
        float | None,
        typer.Option(min=0, max=0.3, help="Share of attention checks, items with a known answer [default: 0.05]"),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**31, help="Random seed of the plan.")] = None,
    show_clean: Annotated[bool, typer.Option("--show-clean", help="Also show the clean image.")] = False,
    links: Annotated[Path | None, typer.Option(help="Write the links to this file, readable only by you.")] = None,
    new_links: Annotated[
        bool, typer.Option("--new-links", help="Give every rater a new link; the old links stop working.")
    ] = False,
    host: Annotated[
        str, typer.Option(help="Address to serve on; any other address lets other computers connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 = any free port.")] = PORT,
    address: Annotated[
        str | None, typer.Option(help="Public address of the server, if not host and port: https://rate.example.org")
    ] = None,
    plan_only: Annotated[
        bool, typer.Option("--plan-only", help="Make the plan and the links, and do not serve.")
    ] = False,
    collect: Annotated[
        bool, typer.Option("--collect", help="Write the answers into the run, and do not serve.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Print the progress of the raters, and do not serve.")
    ] = False,
    export: Annotated[Path | None, typer.Option(help="Write the answers to this CSV file, and do not serve.")] = None,
) -> None:
    """Serve a page on which invited people rate a run's images blind; their answers are added to the run."""
    from convergebench.cli.display import rows_as_text, say
    from convergebench.conductor.rating_collect import collect_ratings, export_ratings, rating_progress
    from convergebench.conductor.rating_plan import MODES
    from convergebench.conductor.rating_setup import RatingRequest, begin_rating
    from convergebench.errors import StudyError
    from convergebench.registry import suggest

    if mode is not None and mode not in MODES:
        raise StudyError(f"--mode {mode}{suggest(mode, MODES)} (there are: {', '.join(MODES)})")
    if sum((collect, status, export is not None, plan_only)) > 1:
        raise StudyError("--collect, --status, --export and --plan-only exclude each other; use one of them")
    which = plan or mode
    if collect:
        say(_collected(collect_ratings(run, which), run))
    elif status:
        say(rows_as_text([_progress(one) for one in rating_progress(run, which)]))
    elif export is not None:
        say(f"{export}: {export_ratings(run, export, which):,} answers")
    else:
        base = _base(address)
        _require_new(links)
        request = RatingRequest(
            mode=mode,
            plan=plan,
            images=images,
            methods=tuple(name.strip() for name in (methods or "").split(",") if name.strip()),
            raters=raters,
            items=items,
            round=round_number,
            repeats=repeats,
            attention=attention,
            seed=seed,
            show_clean=show_clean,
            paper=paper,
            new_links=new_links,
        )
        if plan_only:
            from convergebench.serve.server import shown_host

            begun = begin_rating(run, request)
            _tell_plan(begun)
            _tell_links(begun, base or f"http://{shown_host(host)}:{port}", links)
            return
        _serve(run, request, host=host, port=port, base=base, links=links)


def _serve(run: Path, request: object, *, host: str, port: int, base: str | None, links: Path | None) -> None:
    from convergebench.cli.display import say, say_beside
    from convergebench.conductor.rating_collect import collect_ratings
    from convergebench.conductor.rating_setup import RatingRequest, begin_rating, read_settings, token_hash
    from convergebench.errors import ConvergeBenchError
    from convergebench.serve.rating.app import RatingSite, rating_app
    from convergebench.serve.rating.pictures import Pictures
    from convergebench.serve.server import bound_socket, is_loopback, page_server, shown_host
    from convergebench.store.images import open_images
    from convergebench.store.rating_book import RatingBook
    from convergebench.store.records import Records

    assert isinstance(request, RatingRequest)
    listening = bound_socket(host, port)  # before anything is written: the links name the port
    with listening:
        begun = begin_rating(run, request)
        local = f"http://{shown_host(host)}:{listening.getsockname()[1]}"
        _tell_plan(begun)
        _tell_links(begun, base or local, links)
        with closing(Records(run / "run.sqlite")) as records:
            files = {identity: row.file for identity, row in records.images().items()}
        with closing(RatingBook.open(begun.path)) as book:
            settings = read_settings(book)
            site = RatingSite(
                book,
                Pictures(open_images(run), files),
                *(settings.mode, settings.study, settings.questions, token_hash),
                names=_names(base, host),
                secure=(base or "").startswith("https://"),
                show_clean=settings.show_clean,
                tell=say_beside,
            )
            if not is_loopback(host):
                say_beside(f"other computers can reach this server on {host}; without a link they see nothing")
            say(f"serving on {local}; Ctrl-C stops the server and adds the answers to the run")
            page_server(rating_app(site)).run(sockets=[listening])
    try:
        say(_collected(collect_ratings(run, begun.name), run))
    except ConvergeBenchError as error:
        say_beside(f"the answers are kept, but not in the run yet: {error}; then type: cbench rate {run} --collect")


def _tell_plan(begun: RatingBegun) -> None:
    from convergebench.cli.display import say

    for note in begun.notes:
        say(note)
    one = begun.settings
    rest = [f"{100 * one.repeats:g} % come twice"] if one.repeats else []
    rest += [f"{100 * one.attention:g} % have a known answer"] if one.attention else []
    raters = f"{begun.raters:,} rater{'' if begun.raters == 1 else 's'}"
    methods = f"{len(one.methods)} method{'' if len(one.methods) == 1 else 's'}"
    say(
        f"plan '{begun.name}': {raters}, up to {begun.longest:,} items each; mode {one.mode}, "
        f"{begun.cases:,} pictures, {methods}{''.join(f', {part}' for part in rest)} "
        f"(all of it in {begun.path.with_suffix('.plan.json')})"
    )


def _tell_links(begun: RatingBegun, base: str, file: Path | None) -> None:
    from convergebench.cli.display import say
    from convergebench.conductor.rating_setup import rater_name

    lines = [f"{rater_name(begun.name, number)}  {base}/r/{token}" for number, token in begun.links.items()]
    if not lines:
        say("every rater already has a link (--new-links replaces lost links)")
    elif file is not None:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as written:
            written.write("\n".join(lines) + "\n")
        say(f"{file}: {len(lines):,} links; each is a key, so send each to one person")
    else:
        say("\n".join(lines))
        say("each link is a key: send each to one person; they are not shown again")


def _require_new(file: Path | None) -> None:
    from convergebench.errors import StudyError

    if file is not None and (file.exists() or file.is_symlink()):
        raise StudyError(f"--links {file} already exists; choose another file")
    if file is not None and not file.parent.is_dir():
        raise StudyError(f"--links {file}: there is no folder {file.parent}")


def _base(address: str | None) -> str | None:
    """`--address` without a slash at its end."""
    from urllib.parse import urlsplit

    from convergebench.errors import StudyError

    if address is None:
        return None
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/") or parts.query:
        raise StudyError(f"--address {address}: give only scheme and host, such as https://rate.example.org")
    return f"{parts.scheme}://{parts.netloc}"


def _names(base: str | None, host: str) -> tuple[str, ...]:
    from urllib.parse import urlsplit

    own = socket.gethostname().lower()
    return tuple(filter(None, (host, own, f"{own}.local", urlsplit(base or "").hostname)))


def _collected(done: RatingsCollected, run: Path) -> str:
    parts = [f"{done.ratings:,} ratings"] if done.ratings or not done.labels else []
    parts += [f"{done.labels:,} labels"] if done.labels else []
    known = f"; {done.known:,} already known" if done.known else ""
    return f"{' and '.join(parts)} added from {done.answered:,} answers{known} (next: cbench report {run})"


def _progress(one: object) -> dict[str, str]:
    from convergebench.conductor.rating_collect import RaterProgress

    assert isinstance(one, RaterProgress)
    return {
        "plan": one.plan,
        "rater": one.rater,
        "answered": f"{one.answered:,} of {one.planned:,}",
        "cannot say": f"{one.cannot_say:,}",
        "last answer": one.last or "",
    }
