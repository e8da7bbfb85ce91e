"""What a claim file may say: who claims what, and a test that is data, from a closed set of kinds.

Every kind compares cells of tables. A cell is a table, a row (`row`: columns and the values they have there) and a
column. Several rows are chosen by `rows`, which may be empty for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from convergebench.claims.operand import Address, Limits, Rows, Scalar, Side
from convergebench.documents import Strict

Direction = Literal["higher", "lower"]
Relation = Literal[">", ">=", "<", "<=", "=", "!=", "between", "better"]


class Best(Strict):
    """One row is the best (or the worst) of all rows in every column."""

    kind: Literal["best", "worst"]
    table: Address
    row: dict[str, Scalar] = Field(min_length=1)
    columns: dict[str, Direction] = Field(min_length=1)
    rows: Rows = Field(default_factory=dict)
    by: str | None = None
    """Repeat it for every value of this column."""
    enough: int | None = Field(None, ge=1)
    """In so many of the columns; all of them where nothing is said."""
    ties: bool = False
    """Whether sharing the place will do."""
    beyond_interval: bool = False


class _Comparison(Strict):
    left: Side
    relation: Relation
    right: Limits
    tolerance: float = Field(0.0, ge=0)
    """How far apart `=` may be; how much more than nothing the others ask for."""
    beyond_interval: bool = False
    """The intervals of both sides must lie apart."""

    @model_validator(mode="after")
    def _two_limits(self) -> _Comparison:
        if len(self.right) != (2 if self.relation == "between" else 1):
            raise ValueError("'right' is one side, and two (lowest, highest) with the relation 'between'")
        stated = [side.value for side in self.right if isinstance(side.value, int | float)]
        if self.relation == "between" and len(stated) == 2 and stated[0] > stated[1]:
            raise ValueError(f"nothing lies between {stated[0]} and {stated[1]}; the lowest comes first")
        if self.beyond_interval and self.relation not in (">", "<", "better"):
            raise ValueError("beyond_interval goes with >, < and better")
        return self


class Compare(_Comparison):
    """Two cells, or what is made of several, compared; in several columns if these are named."""

    kind: Literal["compare"]
    table: Address | None = None
    columns: dict[str, Direction] | None = None
    """Sides without a column take each of these in turn."""

    @field_validator("columns", mode="before")
    @classmethod
    def _without_direction(cls, given: Any) -> Any:
        return dict.fromkeys(given, "higher") if isinstance(given, list) else given

    @model_validator(mode="after")
    def _is_whole(self) -> Compare:
        for side in (self.left, *self.right):
            side.must_be_whole(table=self.table is not None, column=bool(self.columns), row=False)
        if self.relation == "better" and not self.columns:
            raise ValueError("'better' wants to be told which way: columns = { PSNR = \"higher\", … }")
        return self


class Every(_Comparison):
    """What is true of every row, of some row, or of none. A side with a column alone is the row's own cell."""

    kind: Literal["every", "some", "none"]
    table: Address
    rows: Rows = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_whole(self) -> Every:
        for side in (self.left, *self.right):
            side.must_be_whole(table=True, column=False, row=True)
        if self.relation == "better":
            raise ValueError("'better' goes with the kind 'compare'; say > or <")
        return self


class Rank(Strict):
    """The place of one row when rows are ordered by their mean rank over columns."""

    kind: Literal["rank"]
    table: Address
    row: dict[str, Scalar] = Field(min_length=1)
    columns: dict[str, Direction] = Field(min_length=1)
    rows: Rows = Field(default_factory=dict)
    relation: Literal["=", "<=", ">="] = "="
    place: int = Field(1, ge=1)


class Members(Strict):
    """The values that stand in one column or in several side by side."""

    table: Address | None = None
    columns: tuple[str, ...] = ()
    rows: Rows = Field(default_factory=dict)
    without: tuple[str, ...] = ()
    values: tuple[str, ...] | None = None
    """Stated by the claim itself. A bare list stands for `{ values = […] }`."""
    label: str | None = None
    """What it is called in the evidence."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> Members:
        if (self.values is None) == (self.table is None):
            raise ValueError("a set is a list of words, or a table with its columns")
        if self.table is not None and not self.columns:
            raise ValueError("name the columns whose values are meant")
        return self


Side_of_sets = Annotated[
    Members, BeforeValidator(lambda given: {"values": given} if isinstance(given, list) else given)
]


class Sets(Strict):
    """Two sets of words are the same, or one lies within the other."""

    kind: Literal["set"]
    left: Side_of_sets
    relation: Literal["equals", "within", "contains"]
    right: Side_of_sets


class Trend(Strict):
    """A column falls or rises all the way along another."""

    kind: Literal["trend"]
    table: Address
    column: str
    along: str
    relation: Literal["falls", "rises", "never falls", "never rises"]
    rows: Rows = Field(default_factory=dict)
    by: tuple[str, ...] = ()
    """One series for each combination of these columns."""
    tolerance: float = Field(0.0, ge=0)
    """So much against the trend from one row to the next is no break of it."""


class Combined(Strict):
    """Several tests: all hold, any holds, neither holds."""

    kind: Literal["all", "any", "neither"]
    tests: tuple[AnyTest, ...] = Field(min_length=1)


AnyTest = Annotated[Best | Compare | Every | Rank | Sets | Trend | Combined, Field(discriminator="kind")]

KINDS: dict[str, type[Strict]] = {
    **{"best": Best, "worst": Best, "compare": Compare, "every": Every, "some": Every, "none": Every},
    **{"rank": Rank, "set": Sets, "trend": Trend, "all": Combined, "any": Combined, "neither": Combined},
}
"""Every kind of test by its name."""


class Claim(Strict):
    """One sentence, and the test that it stands or falls with."""

    id: str = Field(min_length=1)
    where: str
    """Section, table or figure."""
    sentence: str = Field(min_length=1)
    """In our own words."""
    reading: str = ""
    """What exactly is tested, where the sentence leaves that open."""
    test: AnyTest


class Heading(Strict):
    """What a claim file says beside its claims."""

    paper: str = Field(min_length=1)
    names: dict[str, str] = Field(default_factory=dict)
    """`$word` in a test stands for this; the command line can say something else."""


def addresses(part: object) -> Iterator[str]:
    """Every table that a test or a part of it names."""
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


Combined.model_rebuild()
