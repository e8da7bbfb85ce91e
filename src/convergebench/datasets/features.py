"""The columns of a table in the words of others: Arrow, Hugging Face `datasets` (as JSON and as YAML), Polars."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from convergebench.datasets.fields import Field, Table

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

_VALUES = {"text": "string", "integer": "int64", "number": "float64", "flag": "bool"}
"""What a single value is called by Arrow and by `datasets`."""
_LISTS = {"texts": "text", "values": "number", "images": "image"}
"""Lists → what they are lists of."""


def hub_features(table: Table) -> dict[str, Any]:
    """As `datasets` keeps them inside Parquet files and Arrow schemas."""
    features = {field.name: _hub(field) for field in table.fields}
    return {"image": {"_type": "Image"}, **features} if table.pictures else features


def _hub(field: Field) -> Any:
    if field.kind in _LISTS:
        inner = {"_type": "Image"} if field.kind == "images" else _value(_LISTS[field.kind])
        return {"feature": inner, "_type": "List"}
    if field.kind == "image":
        return {"_type": "Image"}
    if field.kind == "numbers":
        return {name: _value("number") for name in field.names}
    return _value(field.kind)


def _value(kind: str) -> dict[str, str]:
    return {"dtype": _VALUES[kind], "_type": "Value"}


def yaml_features(table: Table) -> list[dict[str, Any]]:
    """As the front matter of a data-set card lists them."""
    return [*([{"name": "image", "dtype": "image"}] if table.pictures else []), *map(yaml_feature, table.fields)]


def yaml_feature(field: Field) -> dict[str, Any]:
    """One column of a card's list."""
    if field.kind in _LISTS:
        return {"name": field.name, "list": _VALUES.get(_LISTS[field.kind], "image")}
    if field.kind == "image":
        return {"name": field.name, "dtype": "image"}
    if field.kind == "numbers":
        return {"name": field.name, "struct": [{"name": name, "dtype": "float64"} for name in field.names]}
    return {"name": field.name, "dtype": _VALUES[field.kind]}


def arrow_schema(table: Table) -> pa.Schema:
    """For Parquet; carries what `datasets` needs to see images in a column of bytes."""
    import pyarrow as pa

    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    single = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "flag": pa.bool_(), "image": picture}

    def of(field: Field) -> pa.DataType:
        if field.kind in _LISTS:
            return pa.list_(single[_LISTS[field.kind]])
        if field.kind == "numbers":
            return pa.struct([(name, pa.float64()) for name in field.names])
        return single[field.kind]

    columns = [pa.field(field.name, of(field)) for field in table.fields]
    if table.pictures:
        columns.insert(0, pa.field("image", picture))
    described = json.dumps({"info": {"features": hub_features(table)}})
    return pa.schema(columns, metadata={"huggingface": described})


def polars_schema(table: Table) -> dict[str, pl.DataType | type[pl.DataType]]:
    """For tables without pixels."""
    import polars as pl

    def of(field: Field) -> pl.DataType | type[pl.DataType]:
        if field.kind == "texts":
            return pl.List(pl.String)
        if field.kind == "numbers":
            return pl.Struct(dict.fromkeys(field.names, pl.Float64))
        return {"text": pl.String, "integer": pl.Int64, "number": pl.Float64, "flag": pl.Boolean}[field.kind]

    return {field.name: of(field) for field in table.fields}
