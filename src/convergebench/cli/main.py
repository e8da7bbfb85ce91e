"""`cbench`: the way in. Each command imports what it needs when it is called, so that help answers at once."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import warnings
from types import FrameType, TracebackType
from typing import NoReturn

import typer

from convergebench.cli import (
    auditing,
    badge,
    claiming,
    comparing,
    degrading,
    demo,
    examining,
    exporting,
    factory,
    filtering,
    importing,
    leaderboard,
    listing,
    looking,
    measuring,
    papering,
    pushing,
    rating,
    rearranging,
    recovering,
    reporting,
    running,
    starting,
    storing,
    submitting,
    suites,
    verifying,
    viewing,
    weights,
)
from convergebench.cli.streams import leave, open_closed_streams
from convergebench.errors import ConvergeBenchError, Interrupted
from convergebench.redaction import redact

app = typer.Typer(
    name="cbench",
    help="ConvergeBench: what happens to an image when a model edits it again and again?",
    epilog="Start with: cbench demo --light   Your own study: cbench init my-study   Docs: docs/tutorial.md",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("init")(starting.init)
app.command("run")(running.run)
app.command("measure")(measuring.measure)
app.command("filter")(filtering.filter_images)
app.command("examine")(examining.examine)
app.command("label")(examining.label)
app.command("rate")(rating.rate)
app.command("report")(reporting.report)
app.command("audit")(auditing.audit)
app.command("claims")(claiming.claims)
app.command("compare")(comparing.compare)
app.command("show")(reporting.show)
app.command("open")(looking.open_run)
app.command("runs")(looking.runs)
app.command("view")(viewing.view)
app.command("degrade")(degrading.degrade)
app.command("import")(importing.import_recordings)
app.command("export")(exporting.export)
app.command("paper")(papering.paper)
app.command("push")(pushing.push)
app.command("submit")(submitting.submit)
app.command("badge")(badge.badge)
app.command("list")(listing.list_names)
app.command("rename")(rearranging.rename)
app.command("merge")(rearranging.merge)
app.command("verify")(verifying.verify)
app.command("recover")(recovering.recover)
app.command("backup")(storing.backup)
app.command("gc")(storing.gc)
app.add_typer(factory.app, name="factory")
app.add_typer(leaderboard.app, name="leaderboard")
app.add_typer(suites.app, name="suite")
app.add_typer(weights.app, name="weights")


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"convergebench {version('convergebench')}")
        raise typer.Exit


def _debug(asked: bool) -> None:
    """Set for this process and for those that it starts."""
    if asked:
        os.environ["CONVERGEBENCH_DEBUG"] = "1"


@app.callback()
def common(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    debug: bool = typer.Option(False, "--debug", callback=_debug, is_eager=True, help="Show tracebacks, without keys."),
) -> None:
    """ConvergeBench: what happens to an image when a model edits it again and again?"""


_ROOM = "; free some disk space, then run the same command again"
_RIGHT = "; you need permission to read and write there"
_CURES: dict[int | None, str] = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EACCES: _RIGHT,
    errno.EPERM: _RIGHT,
    errno.EROFS: "; use a copy of the folder on a writable disk",
}
"""What to do about errors of the system."""


def main() -> None:
    """Run the command line; a mistake is one line on stderr and exit code 2."""
    open_closed_streams()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    threading.excepthook = _thread_failed
    if "--debug" in sys.argv[1:]:  # before or after the command
        sys.argv[1:] = [word for word in sys.argv[1:] if word != "--debug"]
        _debug(True)
    if os.environ.get("CONVERGEBENCH_DEBUG"):
        _log_to_stderr()
    else:
        warnings.showwarning = _say_nothing
    try:
        app()
    except SystemExit as end:
        leave(end.code)
    except ConvergeBenchError as error:
        if os.environ.get("CONVERGEBENCH_DEBUG") and error.__cause__ is not None:
            _traceback(type(error), error, error.__traceback__)
        leave(2, redact(f"error: {error}"))
    except Interrupted:
        leave(130, "stopped; run the same command to continue")
    except BrokenPipeError:
        leave(141)
    except OSError as error:  # a folder that may not be written, a disk that is full
        leave(2, f"error: {error.filename or 'the system'}: {error.strerror or error}{_CURES.get(error.errno, '')}")
    except BaseException as error:
        # polars ends in a BaseException of its own where data breaks it
        if os.environ.get("CONVERGEBENCH_DEBUG") or not (
            isinstance(error, Exception | BaseExceptionGroup) or "Panic" in type(error).__name__
        ):
            sys.excepthook = _traceback  # now, because typer puts its own in place
            raise
        from convergebench.cli.mishaps import explain

        line, code = explain(error, sys.argv[1:])
        leave(code, redact(line))


def _log_to_stderr() -> None:
    """Where a call of a plug-in failed is logged; keys are taken out before."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logger = logging.getLogger("convergebench")
    logger.handlers = [handler]
    logger.setLevel(logging.DEBUG)


def _traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What CONVERGEBENCH_DEBUG shows, without keys: it ends up in logs and in reports of defects."""
    import traceback

    sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))


def _thread_failed(failure: threading.ExceptHookArgs) -> None:
    """The reader of the progress has gone; the work goes on, and the main thread reports its end."""
    if not issubclass(failure.exc_type, BrokenPipeError):
        threading.__excepthook__(failure)


def _say_nothing(*_: object, **__: object) -> None:
    """Python's warnings are for developers; what a user should know is said by the command itself."""


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted


if __name__ == "__main__":
    main()
