"""A folder as a data-set repository of the Hugging Face Hub: what would be sent, then sending it, with retries."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.errors import Prerequisite, StudyError
from convergebench.keys import require_key
from convergebench.redaction import redact

DEFAULT_ENDPOINT = "https://huggingface.co"
TOKEN = "HF_TOKEN"
PAUSES = (1.0, 4.0, 15.0, 60.0)
"""Seconds before each further try after a transient failure."""
_REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
_TRANSIENT = (408, 409, 412, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class PushPlan:
    """What would be sent, and where."""

    folder: Path
    repo: str
    private: bool
    endpoint: str
    files: tuple[tuple[str, int], ...]
    """Path inside the repository, and bytes."""

    @property
    def address(self) -> str:
        """Of the data set's page."""
        return f"{self.endpoint}/datasets/{self.repo}"

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(size for _, size in self.files)


def plan_push(folder: Path, repo: str, *, private: bool) -> PushPlan:
    """Plan to send every file of a folder; nothing is sent and no key is needed."""
    require_repo(repo)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    listed = tuple((path.relative_to(folder).as_posix(), path.stat().st_size) for path in files)
    endpoint = (os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
    return PushPlan(folder, repo, private, endpoint, listed)


def require_repo(repo: str) -> None:
    """`StudyError` for what is no name of a repository."""
    if not _REPO.fullmatch(repo) or ".." in repo or "--" in repo:
        raise StudyError(f"'{repo}' is no repository of the Hub; write OWNER/NAME, e.g. my-lab/round-trips")


def push(
    plan: PushPlan, *, wait: Callable[[float], None] = time.sleep, note: Callable[[str], None] = lambda line: None
) -> str:
    """Send the files in one commit; returns the address of the data set.

    Files that arrived before a failure are not sent again: the Hub knows them by their content.
    """
    try:
        import huggingface_hub
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ImportError as error:
        raise Prerequisite('push needs huggingface_hub: pip install "convergebench[hub]"') from error
    token = require_key([TOKEN], "the Hub")
    if plan.endpoint.startswith("http://") and not _is_local(plan.endpoint):
        raise StudyError(f"HF_ENDPOINT {plan.endpoint} would send the token unencrypted; use https://")
    if not sys.stderr.isatty():
        disable_progress_bars()
    api: Any = huggingface_hub.HfApi(endpoint=plan.endpoint, token=token, library_name="convergebench")
    _tried(lambda: _make_repo(api, plan), plan, wait, note)
    message = "Upload by convergebench"
    send = {"repo_id": plan.repo, "repo_type": "dataset", "folder_path": str(plan.folder), "commit_message": message}
    _tried(lambda: api.upload_folder(**send), plan, wait, note)
    return plan.address


def _make_repo(api: Any, plan: PushPlan) -> None:
    """Make the repository, or see that one that is there is no more public than was asked for."""
    api.create_repo(plan.repo, repo_type="dataset", private=plan.private, exist_ok=True)
    if plan.private and api.repo_info(plan.repo, repo_type="dataset").private is False:
        raise StudyError(f"{plan.address} is public; say --public if everybody may see this, or choose another name")


def _tried(
    work: Callable[[], object], plan: PushPlan, wait: Callable[[float], None], note: Callable[[str], None]
) -> None:
    for place in range(len(PAUSES) + 1):
        try:
            work()
            return
        except StudyError:
            raise
        except Exception as error:  # the client raises many kinds
            status = _status(error)
            reason = _reason(error)
            if status in (401, 403):
                raise StudyError(
                    f"{plan.endpoint} refused {TOKEN} ({status}); it must be a token that may write to {plan.repo}"
                ) from None
            if place == len(PAUSES) or not (status in _TRANSIENT or _lost_connection(error)):
                raise StudyError(f"cannot push to {plan.address}: {reason}; run the same command to continue") from None
            note(f"{reason}; trying again in {PAUSES[place]:g} s")
            wait(PAUSES[place])


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from."""
    one: BaseException | None = error
    while one is not None:
        yield one
        one = one.__cause__ or one.__context__


def _status(error: BaseException) -> int | None:
    """The status of the answer that failed, if there was an answer."""
    found = (getattr(getattr(one, "response", None), "status_code", None) for one in _causes(error))
    return next((status for status in found if isinstance(status, int)), None)


def _reason(error: BaseException) -> str:
    texts = (redact(str(one)).strip().splitlines()[:1] for one in _causes(error))
    lines = list(dict.fromkeys(line.strip().rstrip(".:") for text in texts for line in text))
    return "; ".join(lines[:2])[:240] or type(error).__name__


def _lost_connection(error: BaseException) -> bool:
    import httpx

    return any(isinstance(one, httpx.TransportError | ConnectionError | TimeoutError) for one in _causes(error))


def _is_local(endpoint: str) -> bool:
    return re.match(r"http://(127\.0\.0\.1|localhost|\[::1\])(:|/|$)", endpoint) is not None
