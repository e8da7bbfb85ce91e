"""The parts that tests are made of: which rows, and one side of a comparison."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, model_validator

from convergebench.documents import Strict

Scalar = bool | int | float | str
Gathering = Literal["sum", "mean", "median", "smallest", "largest", "count", "distinct"]
SOURCES = ("paper", "file", "run", "audit")
"""Where a table may come from; the word before the colon of its address."""


def _address(text: str) -> str:
    source, colon, name = text.partition(":")
    if source not in SOURCES or not colon or not name:
        raise ValueError("a table is paper:NAME, file:NAME.csv, run:NAME or audit:NAME")
    # a claim file may come from somebody else; it reads tables, not the rest of the disk
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor or ".." in re.split(r"[/\\]", name):
        raise ValueError(f"'{name}' leads out of the folder that tables are read from; put the table there")
    return text


class _Endless(Strict):
    """A table in which infinity is a number: two equal pictures have an infinite PSNR."""

    model_config = ConfigDict(allow_inf_nan=True)


Address = Annotated[str, BeforeValidator(lambda text: _address(text) if isinstance(text, str) else text)]


class Condition(_Endless):
    """What a row must have in one column. All that is said must be so."""

    one_of: tuple[Scalar, ...] | None = None
    none_of: tuple[Scalar, ...] | None = None
    above: float | None = None
    below: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    known: bool | None = None
    """Whether there is a value at all."""


def _condition(given: Any) -> Any:
    if isinstance(given, list):
        return {"one_of": given}
    return given if isinstance(given, dict | Condition) else {"one_of": [given]}


Rows = dict[str, Annotated[Condition, BeforeValidator(_condition)]]


class Operand(_Endless):
    """One side of a comparison: a value, a cell, rows gathered into one number, or a sum made of such."""

    value: Scalar | None = None
    """Something stated, of the claim itself. A bare number, word or true stands for `{ value = … }`."""
    table: Address | None = None
    """Where it is not the test's own."""
    row: dict[str, Scalar] | None = None
    column: str | None = None
    """Where it is not one of the test's columns."""
    of: Gathering | None = None
    rows: Rows | None = None
    words: str | None = None
    """How many words the text in this column has."""
    sum: tuple[Side, ...] | None = None
    product: tuple[Side, ...] | None = None
    ratio: tuple[Side, Side] | None = None
    difference: tuple[Side, Side] | None = None
    size_of: Side | None = None
    """Without its sign."""
    label: str | None = None
    """What it is called in the evidence."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> Operand:
        forms = [name for name in ("value", "of", "words", *ARITHMETIC) if getattr(self, name) is not None]
        cell = self.row is not None or self.column is not None
        if len(forms) > 1:
            raise ValueError(f"is {' and '.join(forms)} at once; one side is one thing")
        if self.of is not None and self.row is not None:
            raise ValueError("'of' gathers several rows; choose them with 'rows', not with 'row'")
        if self.of is None and self.rows is not None:
            raise ValueError("'rows' wants to be told what to make of them: of = \"mean\", …")
        if forms and forms[0] not in ("of", "words") and (cell or self.table):
            raise ValueError(f"'{forms[0]}' takes no table, row or column")
        if self.value != self.value:
            raise ValueError("nan is no value")
        return self

    @property
    def form(self) -> str:
        """Which arithmetic it is, if any."""
        return next((name for name in ARITHMETIC if getattr(self, name) is not None), "")

    @property
    def parts(self) -> tuple[Operand, ...]:
        """What it is made of, where it is arithmetic."""
        for name in ARITHMETIC:
            found = getattr(self, name)
            if found is not None:
                return found if isinstance(found, tuple) else (found,)
        return ()

    def must_be_whole(self, *, table: bool, column: bool, row: bool) -> None:
        """A fault unless every cell is said in full; the flags tell what the test says for it."""
        for part in self.parts:
            part.must_be_whole(table=table, column=column, row=row)
        if self.value is not None or self.parts:
            return
        elsewhere = self.row is not None or self.of is not None
        if not elsewhere and (self.table is not None or not row):
            raise ValueError('a side says neither which row nor what to make of several: row = { … } or of = "mean"')
        if elsewhere and self.table is None and not table:
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
