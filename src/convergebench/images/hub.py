"""Data sets from the Hugging Face Hub: downloaded, then read like any local copy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from convergebench.errors import Prerequisite, StudyError

_FORM = re.compile(r"^hub:(?P<name>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?(#(?P<part>[\w.-]+))?$")


class HubSource(NamedTuple):
    """`hub:ORG/NAME@REVISION#PART`: the data set, which version, and only files with PART in their name."""

    name: str
    revision: str | None
    part: str | None


def parse_hub_source(source: str) -> HubSource:
    """Parse a source such as `hub:osunlp/MagicBrush@main#dev`."""
    match = _FORM.match(source)
    if match is None:
        raise StudyError(f"'{source}' is not a Hub data set; write hub:ORG/NAME, hub:ORG/NAME@REVISION or …#PART")
    return HubSource(match["name"], match["revision"], match["part"])


def fetch_hub(source: HubSource) -> tuple[Path, str]:
    """The folder with the data set's files, and their exact revision."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise Prerequisite(f'hub:{source.name} needs huggingface_hub: pip install "convergebench[hub]"') from error
    patterns = [f"*{source.part}*"] if source.part else None
    try:
        folder = Path(
            snapshot_download(source.name, repo_type="dataset", revision=source.revision, allow_patterns=patterns)
        )
    except Exception as error:  # the client raises many kinds: no network, no such data set, terms not accepted
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise StudyError(f"cannot get hub:{source.name}: {reason}") from error
    return folder, folder.name
