"""The format of a claim file: who claims what, and a test that is data, from a fixed set of kinds.

Every kind compares cells of tables. A cell is given by a table, a row (`row`: columns and their values) and a column.
`rows` selects several rows; if empty, all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from convergebench.claims.operand import Address, Limits, Rows, Scalar, Side
from convergebench.documents import Strict

Direction = Literal["higher", "lower"]
Relation = Literal[">", ">=", "<", "<=", "=", "!=", "between", "better"]


class BestTest(Strict):
    """One row is the best (or the worst) of all rows in every column."""

    kind: Literal["best", "worst"]
    table: Address
    row: dict[str, Scalar] = Field(min_length=1)
    columns: dict[str, Direction] = Field(min_length=1)
    rows: Rows = Field(default_factory=dict)
    by: str | None = None
    """Repeat it for every value of this column."""
    enough: int | None = Field(None, ge=1)
    """Number of columns it must lead in; all of them by default."""
    ties: bool = False
    """Whether a shared first place counts."""
    beyond_interval: bool = False


class _Comparison(Strict):
    left: Side
    relation: Relation
    right: Limits
    tolerance: float = Field(0.0, ge=0)
    """Largest difference that counts as `=`; smallest one that the other relations require."""
    beyond_interval: bool = False
    """The intervals of both sides must not overlap."""

    @model_validator(mode="after")
    def _two_limits(self) -> _Comparison:
        if len(self.right) != (2 if self.relation == "between" else 1):
            raise ValueError("'right' is one value, or two (lowest, highest) with the relation 'between'")
        stated = [side.value for side in self.right if isinstance(side.value, int | float)]
        if self.relation == "between" and len(stated) == 2 and stated[0] > stated[1]:
            raise ValueError(f"nothing is between {stated[0]} and {stated[1]}; give the lowest first")
        if self.beyond_interval and self.relation not in (">", "<", "better"):
            raise ValueError("beyond_interval works only with >, < and better")
        return self


class CompareTest(_Comparison):
    """Compares two cells, or values computed from several; in each column of `columns`, if given."""

    kind: Literal["compare"]
    table: Address | None = None
    columns: dict[str, Direction] | None = None
    """Sides without a column take each of these in turn."""

    @field_validator("columns", mode="before")
    @classmethod
    def _without_direction(cls, given: Any) -> Any:
        return dict.fromkeys(given, "higher") if isinstance(given, list) else given

    @model_validator(mode="after")
    def _is_complete(self) -> CompareTest:
        for side in (self.left, *self.right):
            side.require_complete(table=self.table is not None, column=bool(self.columns), row=False)
        if self.relation == "better" and not self.columns:
            raise ValueError("'better' needs a direction: columns = { PSNR = \"higher\", … }")
        return self


class EveryTest(_Comparison):
    """A comparison that holds for every row, some row or no row. A side with only a column is the row's own cell."""

    kind: Literal["every", "some", "none"]
    table: Address
    rows: Rows = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_complete(self) -> EveryTest:
        for side in (self.left, *self.right):
            side.require_complete(table=True, column=False, row=True)
        if self.relation == "better":
            raise ValueError("'better' works only with the kind 'compare'; use > or <")
        return self


class RankTest(Strict):
    """The place of one row when rows are sorted by their mean rank over columns."""

    kind: Literal["rank"]
    table: Address
    row: dict[str, Scalar] = Field(min_length=1)
    columns: dict[str, Direction] = Field(min_length=1)
    rows: Rows = Field(default_factory=dict)
    relation: Literal["=", "<=", ">="] = "="
    place: int = Field(1, ge=1)


class Members(Strict):
    """A set of values: those of one column, or combined from several."""

    table: Address | None = None
    columns: tuple[str, ...] = ()
    rows: Rows = Field(default_factory=dict)
    without: tuple[str, ...] = ()
    values: tuple[str, ...] | None = None
    """Values given in the claim itself. A bare list means `{ values = […] }`."""
    label: str | None = None
    """Its name in the evidence."""

    @model_validator(mode="after")
    def _is_one_form(self) -> Members:
        if (self.values is None) == (self.table is None):
            raise ValueError("a set is a list of words, or a table with its columns")
        if self.table is not None and not self.columns:
            raise ValueError("name the columns that contain the values")
        return self


SetSide = Annotated[Members, BeforeValidator(lambda given: {"values": given} if isinstance(given, list) else given)]


class SetTest(Strict):
    """Two sets of words are equal, or one contains the other."""

    kind: Literal["set"]
    left: SetSide
    relation: Literal["equals", "within", "contains"]
    right: SetSide


class TrendTest(Strict):
    """A column falls or rises monotonically along another."""

    kind: Literal["trend"]
    table: Address
    column: str
    along: str
    relation: Literal["falls", "rises", "never falls", "never rises"]
    rows: Rows = Field(default_factory=dict)
    by: tuple[str, ...] = ()
    """One series for each combination of these columns."""
    tolerance: float = Field(0.0, ge=0)
    """Largest change against the trend from one row to the next that is still accepted."""


class CombinedTest(Strict):
    """Several tests, of which all, any or none hold."""

    kind: Literal["all", "any", "neither"]
    tests: tuple[AnyTest, ...] = Field(min_length=1)


AnyTest = Annotated[
    BestTest | CompareTest | EveryTest | RankTest | SetTest | TrendTest | CombinedTest, Field(discriminator="kind")
]

KINDS: dict[str, type[Strict]] = {
    **{
        "best": BestTest,
        "worst": BestTest,
        "compare": CompareTest,
        "every": EveryTest,
        "some": EveryTest,
        "none": EveryTest,
    },
    **{
        "rank": RankTest,
        "set": SetTest,
        "trend": TrendTest,
        "all": CombinedTest,
        "any": CombinedTest,
        "neither": CombinedTest,
    },
}
"""Every kind of test by its name."""


class Claim(Strict):
    """One sentence of a paper, and the test that decides it."""

    id: str = Field(min_length=1)
    where: str
    """Section, table or figure."""
    sentence: str = Field(min_length=1)
    """In our own words."""
    reading: str = ""
    """What exactly is tested, if the sentence is ambiguous."""
    test: AnyTest


class ClaimFileHeading(Strict):
    """The part of a claim file before its claims."""

    paper: str = Field(min_length=1)
    names: dict[str, str] = Field(default_factory=dict)
    """Values of `$word` in tests; the command line can override them."""


def addresses(part: object) -> Iterator[str]:
    """Addresses of all tables that a test or a part of it uses."""
    if isinstance(part, Strict):
        for name in type(part).model_fields:
            found = getattr(part, name)
            if name == "table" and isinstance(found, str):
                yield found
            else:
                yield from addresses(found)
    elif isinstance(part, tuple):
        for one in part:
            yield from addresses(one)


CombinedTest.model_rebuild()
