"""The parts of tests: row conditions, and one side of a comparison."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, model_validator

from convergebench.documents import Strict

Scalar = bool | int | float | str
Aggregate = Literal["sum", "mean", "median", "smallest", "largest", "count", "distinct"]
SOURCES = ("paper", "file", "run", "audit")
"""Sources of tables: the word before the colon of an address."""


def _address(text: str) -> str:
    source, colon, name = text.partition(":")
    if source not in SOURCES or not colon or not name:
        raise ValueError("a table is paper:NAME, file:NAME.csv, run:NAME or audit:NAME")
    # a claim file from another person may read tables, not the rest of the disk
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor or ".." in re.split(r"[/\\]", name):
        raise ValueError(f"'{name}' is outside the folder that tables are read from; put the table there")
    return text


class _WithInfinity(Strict):
    """A table in which infinity is a number: two equal pictures have an infinite PSNR."""

    model_config = ConfigDict(allow_inf_nan=True)


Address = Annotated[str, BeforeValidator(lambda text: _address(text) if isinstance(text, str) else text)]


class Condition(_WithInfinity):
    """Conditions on one column of a row; all that are given must hold."""

    one_of: tuple[Scalar, ...] | None = None
    none_of: tuple[Scalar, ...] | None = None
    above: float | None = None
    below: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    known: bool | None = None
    """Whether the cell has a value."""


def _condition(given: Any) -> Any:
    if isinstance(given, list):
        return {"one_of": given}
    return given if isinstance(given, dict | Condition) else {"one_of": [given]}


Rows = dict[str, Annotated[Condition, BeforeValidator(_condition)]]


class Operand(_WithInfinity):
    """One side of a comparison: a value, a cell, an aggregate of rows, or arithmetic on such sides."""

    value: Scalar | None = None
    """A value given in the claim. A bare number, word or boolean means `{ value = … }`."""
    table: Address | None = None
    """If it is not the test's table."""
    row: dict[str, Scalar] | None = None
    column: str | None = None
    """If it is not one of the test's columns."""
    of: Aggregate | None = None
    rows: Rows | None = None
    words: str | None = None
    """Column whose words are counted."""
    sum: tuple[Side, ...] | None = None
    product: tuple[Side, ...] | None = None
    ratio: tuple[Side, Side] | None = None
    difference: tuple[Side, Side] | None = None
    size_of: Side | None = None
    """The absolute value of this side."""
    label: str | None = None
    """Its name in the evidence."""

    @model_validator(mode="after")
    def _is_one_form(self) -> Operand:
        forms = [name for name in ("value", "of", "words", *ARITHMETIC) if getattr(self, name) is not None]
        cell = self.row is not None or self.column is not None
        if len(forms) > 1:
            raise ValueError(f"is {' and '.join(forms)} at once; use only one of them")
        if self.of is not None and self.row is not None:
            raise ValueError("'of' gathers several rows; choose them with 'rows', not with 'row'")
        if self.of is None and self.rows is not None:
            raise ValueError("'rows' needs a way to combine them: of = \"mean\", …")
        if forms and forms[0] not in ("of", "words") and (cell or self.table):
            raise ValueError(f"'{forms[0]}' takes no table, row or column")
        if self.value != self.value:
            raise ValueError("nan is not a value")
        return self

    @property
    def form(self) -> str:
        """The name of its arithmetic operation, or empty."""
        return next((name for name in ARITHMETIC if getattr(self, name) is not None), "")

    @property
    def parts(self) -> tuple[Operand, ...]:
        """The operands of its arithmetic operation."""
        for name in ARITHMETIC:
            found = getattr(self, name)
            if found is not None:
                return found if isinstance(found, tuple) else (found,)
        return ()

    def require_complete(self, *, table: bool, column: bool, row: bool) -> None:
        """`ValueError` unless every cell is fully specified; the flags say which parts the test supplies."""
        for part in self.parts:
            part.require_complete(table=table, column=column, row=row)
        if self.value is not None or self.parts:
            return
        own_row = self.row is not None or self.of is not None
        if not own_row and (self.table is not None or not row):
            raise ValueError('a side gives neither a row nor a way to combine several: row = { … } or of = "mean"')
        if own_row and self.table is None and not table:
            raise ValueError('a side names no table, and neither does its test: table = "run:ranking"')
        if self.column is None and self.words is None and self.of != "count" and not column:
            raise ValueError('a side names no column: column = "score"')


ARITHMETIC = ("sum", "product", "ratio", "difference", "size_of")


def _side(given: Any) -> Any:
    return {"value": given} if isinstance(given, bool | int | float | str) else given


Side = Annotated[Operand, BeforeValidator(_side)]


def _limits(given: Any) -> Any:
    return given if isinstance(given, list | tuple) else [given]


Limits = Annotated[tuple[Side, ...], BeforeValidator(_limits)]


Operand.model_rebuild()
