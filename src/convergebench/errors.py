"""The exceptions of this package, as a tree.

    ConvergeBenchError
    ├── EditorError           raised by an editor while it carries out one call
    │   ├── Transient         may work later: rate limit, time-out, 5xx (limited retries, honours Retry-After)
    │   │   └── WorkerLost    the machine or process that carried the call out is gone
    │   ├── BadReply          the provider answered, but not with a usable image (limited retries)
    │   ├── Refused           the model or its filter declined: a result, never retried
    │   ├── Exhausted         the recording has ended: censors the chain
    │   └── Unavailable       no further call can work (key rejected, no credit, model gone)
    ├── Prerequisite          something is missing: says what, and which command helps
    ├── StudyError            the study file, a flag or the input is wrong: says what to change
    │   ├── ChangedMeaning    the run exists and this would change what its numbers mean
    │   └── RunLocked         another process is writing this run
    ├── Unstorable            a value that the journal cannot hold: ends its own chain
    ├── Unmeasurable          a metric has no value here: becomes None with a status
    └── BudgetSpent           the next call would exceed --max-cost

Every message is one line, without a traceback, that a person can act on.
"""

from __future__ import annotations


class ConvergeBenchError(Exception):
    """Base class of all errors that this package raises."""


class Interrupted(BaseException):
    """Ctrl-C or SIGTERM outside of an event loop; typer would silently swallow a KeyboardInterrupt."""


class EditorError(ConvergeBenchError):
    """One call of an editor did not give an image.

    `unsettled`: the request was sent, but no complete answer says whether it is charged. The engine then counts the
    call at its full price.
    """

    def __init__(self, message: str, *, dollars: float = 0.0, raw: str | None = None, unsettled: bool = False) -> None:
        super().__init__(message)
        self.dollars = dollars
        self.raw = raw
        self.unsettled = unsettled


class Transient(EditorError):
    """May work when retried; `retry_after` is the pause in seconds that the provider asks for."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        dollars: float = 0.0,
        raw: str | None = None,
        unsettled: bool = False,
    ) -> None:
        super().__init__(message, dollars=dollars, raw=raw, unsettled=unsettled)
        self.retry_after = retry_after


class WorkerLost(Transient):
    """The worker that carried out the call is gone; nobody knows how far it came."""


class BadReply(EditorError):
    """An answer without a usable image."""


class Refused(EditorError):
    """The model or its filter declined; `reason` is the provider's own code for it."""

    def __init__(
        self,
        message: str,
        *,
        reason: str = "refused",
        dollars: float = 0.0,
        raw: str | None = None,
        unsettled: bool = False,
    ) -> None:
        super().__init__(message, dollars=dollars, raw=raw, unsettled=unsettled)
        self.reason = reason


class Exhausted(EditorError):
    """A recorded chain ends here."""


class Unavailable(EditorError):
    """No further call of this editor can work: the key is rejected, the credit is used up or the model is gone."""


class Prerequisite(ConvergeBenchError):
    """A package, key, file or weight is missing; the message says what to type."""


class StudyError(ConvergeBenchError):
    """The study file, a flag or an input is wrong."""


class ChangedMeaning(StudyError):
    """Continuing would mix results that cannot be compared."""


class RunLocked(StudyError):
    """Another process holds this run."""


class Unstorable(ConvergeBenchError):
    """A value that no column of the journal can hold."""


class Unmeasurable(ConvergeBenchError):
    """A metric has no value; `status` is a short word for tables, the message says why."""

    def __init__(self, status: str, detail: str = "") -> None:
        super().__init__(detail or status)
        self.status = status


class BudgetSpent(ConvergeBenchError):
    """The next call would cost more than is left."""
