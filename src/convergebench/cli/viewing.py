"""`cbench view`: look at runs in a browser, live while they are made."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from convergebench.conductor.trying import Trying
    from convergebench.serve.view.shelf import RunShelf
    from convergebench.serve.view.trying import TryIt, Upload

PORT = 8018


def view(
    places: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN]...", help="Runs, or folders that hold runs.  [default: runs]", show_default=False
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to serve on; any other address lets other computers connect, with a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help=f"Port; 0 = any free port.  [default: {PORT}, or a free one]")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="Token that the link must have.  [default: a random one if not on this computer]")
    ] = None,
    try_it: Annotated[
        bool | None,
        typer.Option(
            "--try/--no-try", help="Let visitors run editors on pictures of theirs.  [default: on this computer]"
        ),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> None:
    """View runs in the browser: progress, images, curves and chains, live while a run is in progress.

    The pages only read. The exception is the page "try it", which makes new runs below the served folder.
    """
    import webbrowser

    from convergebench.cli.display import say, say_beside
    from convergebench.serve.server import is_loopback, page_server, shown_host
    from convergebench.serve.view.access import LONGEST_HEAD, new_token, require_token
    from convergebench.serve.view.shelf import RunShelf

    local = is_loopback(host)
    shelf = RunShelf(places or [Path("runs")])
    secret = require_token(token) if token is not None else "" if local else new_token()
    listening = _listening(host, port)
    with listening:
        from convergebench.serve.view.app import ViewSite, view_app

        number = listening.getsockname()[1]
        link = f"http://{shown_host(host)}:{number}/" + (f"?token={secret}" if secret else "")
        own = socket.gethostname().lower()
        trying = trying_for(shelf, wanted=local if try_it is None else try_it)
        site = ViewSite(
            shelf,
            token=secret,
            names=(host, own, f"{own}.local"),
            port=number,
            trying=trying,
            warm=True,
            tell=say_beside,
        )
        say(link)
        if not local:
            say_beside(f"other computers can reach this server on {host}; they need the link with its token")
        say(f"showing {shelf.folder}; Ctrl-C stops the server")
        if not no_open:
            webbrowser.open(link)
        try:
            page_server(view_app(site), longest=LONGEST_HEAD).run(sockets=[listening])
        finally:
            trying.close()


def _listening(host: str, port: int | None) -> socket.socket:
    """The port that was asked for; without one, `PORT` or else any free one."""
    from convergebench.errors import StudyError
    from convergebench.serve.server import bound_socket

    if port is not None:
        return bound_socket(host, port)
    try:
        return bound_socket(host, PORT)
    except StudyError:
        return bound_socket(host, 0)


def trying_for(shelf: RunShelf, *, wanted: bool) -> TryIt:
    """What makes runs out of pictures; nothing where that is off, or where only single runs are served."""
    from convergebench.serve.view.trying import NO_TRYING

    folder = shelf.folder_for_new
    return NO_TRYING if not wanted or folder is None else _Tried(folder)


class _Tried:
    """The conductor's `Trying` as the server calls it, loaded when somebody opens the page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: Trying | None = None

    @property
    def _trying(self) -> Trying:
        from convergebench.conductor.trying import Trying

        self._loaded = self._loaded or Trying(self._folder)
        return self._loaded

    def offered(self) -> list[dict[str, Any]]:
        from convergebench.conductor.trying import pair_rows

        found = self._trying.ready().values()
        return [{"name": one.name, "summary": one.summary, "needs": "", "pairs": pair_rows(one)} for one in found]

    def require(self) -> None:
        """It is on."""

    def begin(self, upload: Upload) -> str:
        from convergebench.conductor.trying import TryRequest

        return self._trying.begin(TryRequest(upload.picture, upload.name, upload.editor, upload.pair, upload.rounds))

    def stop(self, run: str) -> None:
        self._trying.stop(run)

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
