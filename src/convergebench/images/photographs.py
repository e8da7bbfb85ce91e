"""Real photographs that come inside Python packages: found where they are, never copied, never enlarged."""

from __future__ import annotations

import hashlib
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from convergebench.errors import Prerequisite, StudyError
from convergebench.folders import cache_folder
from convergebench.images.cache import find, keep, read_kept
from convergebench.images.header import read_png_header
from convergebench.types import Kind, SourceImage

_DISTRIBUTIONS = {"skimage": "scikit-image", "sklearn": "scikit-learn"}
_REDUCTION_VERSION = 1


def photograph(
    *,
    package: str,
    file: str,
    id: str,
    kind: Kind,
    sha256: str,
    licence: str,
    source: str,
    long_side: int | None = None,
) -> SourceImage:
    """One photograph: the file as shipped; with `long_side` an sRGB PNG no longer than that, which `source` says."""
    path = _locate(package, file, id=id)
    data = _checked(path, sha256)
    if long_side is None:
        from convergebench.images.decode import probe

        facts = probe(data, what=id)
        return SourceImage(
            id=id,
            kind=kind,
            sha256=sha256,
            width=facts.width,
            height=facts.height,
            licence=licence,
            source=source,
            read=partial(_checked, path, sha256),
        )
    folder = cache_folder() / "photographs" / f"v{_REDUCTION_VERSION}"
    key = f"{path.stem}-{sha256[:16]}-{long_side}"
    make = partial(_reduced, path, sha256, long_side=long_side)
    kept = find(folder, key) or keep(folder, key, data=make())
    header = read_png_header(kept.path.read_bytes())
    return SourceImage(
        id=id,
        kind=kind,
        sha256=kept.sha256,
        width=header.width,
        height=header.height,
        licence=licence,
        source=f"{source}; at most {long_side} pixels long (Lanczos), stored as sRGB PNG",
        read=partial(read_kept, kept, make),
    )


def _locate(package: str, file: str, *, id: str) -> Path:
    spec = find_spec(package)
    roots = list(spec.submodule_search_locations or ()) if spec is not None else []
    for root in roots:
        path = Path(root) / file
        if path.is_file():
            return path
    name = _DISTRIBUTIONS.get(package, package)
    raise Prerequisite(f"the photograph '{id}' comes with {name}: pip install \"convergebench[photos]\"")


def _checked(path: Path, sha256: str) -> bytes:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StudyError(f"{path.name} is not the photograph this suite was made with (its sha256 differs): {path}")
    return data


def _reduced(path: Path, sha256: str, *, long_side: int) -> bytes:
    import numpy as np
    from PIL import Image

    from convergebench.images.decode import decode
    from convergebench.images.encode import encode_png

    frame = decode(_checked(path, sha256), what=path.name)
    share = min(1.0, long_side / max(frame.size))
    size = max(1, round(frame.width * share)), max(1, round(frame.height * share))
    smaller = Image.fromarray(frame.pixels).resize(size, Image.Resampling.LANCZOS)
    return encode_png(np.array(smaller), compression=3)
