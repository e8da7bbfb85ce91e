"""`croissant.json`: a machine-readable description of a data set (Croissant 1.0, JSON-LD by MLCommons)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.datasets.checksums import file_sha256
from convergebench.datasets.fields import Field
from convergebench.store.images import EXTENSIONS

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
IMAGE_MIMES = {suffix: mime for mime, suffix in EXTENSIONS.items()}
_MIMES = {
    ".csv": "text/csv",
    ".jsonl": "application/jsonlines",
    ".parquet": "application/x-parquet",
    ".tar": "application/x-tar",
}
_TYPES = {
    **{"text": "sc:Text", "integer": "sc:Integer", "number": "sc:Float", "flag": "sc:Boolean"},
    **{"texts": "sc:Text", "values": "sc:Float"},
}

_NOT_CR: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "sc": "https://schema.org/",
}
_TERMS = (
    "@language", "@vocab", "citeAs", "column", "conformsTo", "cr", "rai", "data", "dataType", "dct",
    "equivalentProperty", "examples", "extract", "field", "fileProperty", "fileObject", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "sc", "separator", "source", "subField", "transform",
)  # fmt: skip
CONTEXT = {term: _NOT_CR.get(term, f"cr:{term}") for term in _TERMS}
"""Fixed by the vocabulary; readers compare it literally."""

Found = Callable[[str, str | None], dict[str, Any]]
"""(column, name inside it) → its Croissant source."""


@dataclass(frozen=True)
class DatasetFacts:
    """Facts about the whole data set."""

    name: str
    description: str
    licences: Sequence[str]
    """Addresses."""
    published: str
    citation: str
    keywords: Sequence[str]
    url: str | None = None
    creator: str | None = None


def document(
    about: DatasetFacts, distribution: Iterable[dict[str, Any]], sets: Iterable[dict[str, Any]]
) -> dict[str, Any]:
    """The whole file."""
    creator = {"@type": "sc:Organization", "name": about.creator} if about.creator else None
    described = {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": about.name,
        "description": about.description,
        "license": list(about.licences),
        "url": about.url,
        "creator": creator,
        "citeAs": about.citation,
        "datePublished": about.published,
        "version": "1.0.0",
        "keywords": list(about.keywords),
        "isLiveDataset": False,
        "distribution": list(distribution),
        "recordSet": list(sets),
    }
    return {key: value for key, value in described.items() if value is not None}


def file_object(root: Path, file: str, *, identity: str | None = None) -> dict[str, Any]:
    """One file with its size and check sum."""
    return {
        "@type": "cr:FileObject",
        "@id": identity or file,
        "name": identity or file,
        "contentUrl": file,
        "contentSize": f"{(root / file).stat().st_size} B",
        "encodingFormat": _MIMES[Path(file).suffix],
        "sha256": file_sha256(root / file),
    }


def file_set(
    identity: str, includes: Sequence[str], mimes: Sequence[str], *, inside: Sequence[str] = ()
) -> dict[str, Any]:
    """Many files of a kind, by pattern, in the folder or inside archives; their hashes are in `checksums.sha256`."""
    return {
        "@type": "cr:FileSet",
        "@id": identity,
        "name": identity,
        "encodingFormat": list(mimes),
        "includes": list(includes),
        **({"containedIn": [{"@id": archive} for archive in inside]} if inside else {}),
    }


def record_set(identity: str, fields: Sequence[Field], found: Found, *, image: bool = False) -> dict[str, Any]:
    """The columns of a table, each with its meaning, type and place."""
    name = f"{identity}-records"
    # readers cannot take the bytes out of a list of pictures
    described = [_field(name, field, found) for field in fields if field.kind != "images"]
    if image:
        pictures = {"@type": "cr:Field", "@id": f"{name}/image", "name": "image", "dataType": "sc:ImageObject"}
        described.insert(0, {**pictures, "source": found("image", "bytes")})
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": described}


def _field(record_set: str, field: Field, found: Found) -> dict[str, Any]:
    identity = f"{record_set}/{field.name}"
    described: dict[str, Any] = {"@type": "cr:Field", "@id": identity, "name": field.name, "description": field.what}
    if field.kind == "numbers":
        inner = [
            {
                "@type": "cr:Field",
                "@id": f"{identity}/{name}",
                "name": name,
                "dataType": "sc:Float",
                "source": found(field.name, name),
            }
            for name in field.names
        ]
        return {**described, "subField": inner}
    if field.kind == "image":
        return {**described, "dataType": "sc:ImageObject", "source": found(field.name, "bytes")}
    repeated = {"repeated": True} if field.kind in ("texts", "values") else {}
    return {**described, "dataType": _TYPES[field.kind], **repeated, "source": found(field.name, None)}


def json_columns(file: str) -> Found:
    """Columns of a file of JSON lines."""
    return _columns("fileObject", file)


def parquet_columns(file_set: str) -> Found:
    """Columns of Parquet shards."""
    return _columns("fileSet", file_set)


def _columns(kind: str, identity: str) -> Found:
    def found(column: str, inside: str | None) -> dict[str, Any]:
        source: dict[str, Any] = {kind: {"@id": identity}, "extract": {"column": column}}
        return source if inside is None else {**source, "transform": {"jsonPath": _quoted(inside)}}

    return found


def file_records(identity: str, files: str, **columns: tuple[str, str, str]) -> dict[str, Any]:
    """A record per file of a set; each column is (type, property of the file, pattern that finds it there)."""

    def field(name: str, kind: str, found: str, pattern: str) -> dict[str, Any]:
        source: dict[str, Any] = {"fileSet": {"@id": files}, "extract": {"fileProperty": found}}
        if pattern:
            source["transform"] = {"regex": pattern}
        return {"@type": "cr:Field", "@id": f"{identity}/{name}", "name": name, "dataType": kind, "source": source}

    fields = [field(name, *facts) for name, facts in columns.items()]
    return {"@type": "cr:RecordSet", "@id": identity, "name": identity, "field": fields}


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"'{name}'"
