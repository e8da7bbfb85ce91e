"""The columns of an exported data set: every format, the card and the Croissant file are made from this list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

FieldKind = Literal["text", "integer", "number", "flag", "texts", "numbers", "values", "image", "images"]
"""`texts` is a list of strings, `values` one of numbers, `numbers` a table of named numbers inside one column; `image`
is a picture inside a row that may have several, `images` a list of them."""


@dataclass(frozen=True, slots=True)
class Field:
    """One column. Where nothing is known its value is null, never an empty string or 0."""

    name: str
    kind: FieldKind
    what: str
    """In one line, for the card."""
    names: tuple[str, ...] = ()
    """Of the numbers inside."""


@dataclass(frozen=True, slots=True)
class Table:
    """Records of one kind."""

    name: str
    fields: tuple[Field, ...]
    pictures: bool = False
    """Whether every record comes with an image."""
    what: str = ""
    """In one line, for the card; tables with pictures explain themselves there."""

    @property
    def columns(self) -> list[str]:
        """Names in order."""
        return [field.name for field in self.fields]

    @property
    def picture_columns(self) -> list[str]:
        """Columns that hold pictures; a table of single pictures has its `image` beside the columns."""
        return [field.name for field in self.fields if field.kind in ("image", "images")]

    @property
    def plain(self) -> tuple[Field, ...]:
        """Columns that hold no picture."""
        return tuple(field for field in self.fields if field.kind not in ("image", "images"))


def columns(kind: FieldKind, /, **named: str) -> tuple[Field, ...]:
    """Columns of one kind: name → what it is."""
    return tuple(Field(name, kind, what) for name, what in named.items())


PLACE = (
    *columns(
        "text",
        id="the record: editor/image/variant/run/step",
        chain_id="id of the chain, shared by all its steps",
        image_name="the source image's name in its suite",
        variant="what was requested, step by step",
        family="the kind of variant",
    ),
    *columns(
        "integer",
        run_index="repetition of the same setting, from 0",
        step_index="0 is the untouched source",
    ),
    *columns("text", editor="the editor's name in the study"),
)
"""What identifies a picture; patches have these columns too."""

RIGHTS = columns(
    "text",
    split="`train` unless splits were requested; all images of one source are in one split",
    source_address="where the source image comes from",
    source_licence="the source image's own licence",
    licence="this record's licence",
)

STEP = (
    *PLACE,
    *columns("integer", parent_step="the step it was made from: the previous one, or 0 in independent runs"),
    *columns("flag", independent="whether every step of the chain starts from the untouched source"),
    *columns("integer", round="the round it belongs to; a round trip has two steps a round"),
    *columns(
        "text", operation="what the prompt should do, for checking", prompt="the instruction that the editor received"
    ),
    *columns("integer", seed="null: the editor takes none"),
    *columns("number", temperature="null: none was sent"),
    *columns(
        "text",
        resolution_requested="`1K`, `2K`, `4K`; null: none was requested",
        session="`fresh`, or `single` where every call included the earlier turns",
    ),
    *columns(
        "integer",
        width="of the returned image, in pixels",
        height="of the returned image, in pixels",
        file_bytes="length of the file as received",
    ),
    *columns(
        "text",
        mime="of the file as received",
        sha256="of the file as received",
        model_id="model name reported by the provider",
        started="when the first call for this step began, UTC",
    ),
    *columns("number", seconds="all calls for this step together", cost="dollars, all calls for this step together"),
    *columns("integer", attempts="calls it took"),
    *columns(
        "text",
        reasoning_summary="the model's summary of its reasoning; null: it gave none",
        status="`ok`, or why there is no image",
        detail="more about it, in the editor's words",
        chain_status="how the chain ended",
        step_key="hash of the step's history; chains that start the same way share steps, and their cost is paid once",
        settings="JSON: everything requested besides the instruction",
        used="JSON: what was actually sent besides the instruction",
    ),
    *columns(
        "texts",
        failures="names of the failure modes seen in this image (labels by people override those by judges, and "
        "these override rules; the newest of each counts, for several people the majority); null: not examined",
    ),
    *columns(
        "text",
        kind="what the source shows: face, object, scene",
        origin="`photograph` or `drawn`; null: its suite does not say",
        source_sha256="of the untouched source file",
    ),
    *RIGHTS,
    *columns("flag", simulated="true: edited by a program with a known outcome, not by a model"),
    *columns(
        "text",
        editor_fingerprint="identifies the editor with its options",
        run_name="the run it was made in",
        manifest_sha256="of that run's manifest",
        git_commit="of the program that made it; ends in `+` if files were changed",
        convergebench="version of the program that made it",
    ),
)

MEASURED = columns("texts", without_value="measurements without a finite number, each with the reason")

PATCH = (
    *PLACE,
    *columns("text", parent_id="the record of the image it was cut from"),
    *columns("integer", patch_index="from 0; the same index is the same place in every step of a source"),
    *columns("integer", x="left edge in the parent image, in pixels", y="upper edge", side="of the square"),
    *columns("text", sha256="of the patch's file", parent_sha256="of the file it was cut from"),
    *RIGHTS,
)

MEASUREMENTS = Table(
    "measurements",
    (
        *columns("text", id="the record that was measured", chain_id="its chain", metric="as `cbench list metrics`"),
        *columns("integer", step_index="its step"),
        *columns("text", role="what it was compared with: source, return, first, around, lag, step, …"),
        *columns("integer", lag="how many rounds back, 0 unless the role is lag"),
        *columns("text", align="how images of different sizes were aligned"),
        *columns("number", value="may be infinite; null: see status"),
        *columns("text", status="`ok` or the reason", detail="more about it", fingerprint="of the metric"),
    ),
    what="every measurement with its role, alignment, status and detail; infinite values too",
)

LABELS = Table(
    "labels",
    (
        *columns("text", chain_id="the chain", mode="the failure mode", level="sub-object, object, image or noise"),
        *columns("flag", present="false: examined and not seen; null: undecided"),
        *columns("integer", step="where it is first seen", last="where it is last seen; null: to the end"),
        *columns("integer", shown="the step that shows it best"),
        *columns("text", region="JSON [x, y, width, height] as fractions of that image; null: all of it"),
        *columns("number", confidence="0 to 1"),
        *columns("text", source="rule, judge or person; a person overrides a judge, and a judge overrides a rule"),
        *columns(
            "text",
            by="fingerprint of the detector, or the name of the person",
            detail="the finding as text",
            made="when",
        ),
    ),
    what="every failure label with its origin; *Columns*, `failures` explains which one counts",
)


def steps_table(measured: Iterable[str]) -> Table:
    """The records of a run in which these numbers were measured."""
    names = tuple(measured)
    numbers = (Field("measurements", "numbers", "name → value; null: see `without_value`", names), *MEASURED)
    return Table("steps", STEP + (numbers if names else ()), pictures=True)


PATCHES = Table("patches", PATCH, pictures=True)


def without_pictures(table: Table) -> Table:
    """The same columns for steps that gave no picture."""
    what = "steps without an image (refused, ended), with the same columns"
    return Table("without_image", table.fields, what=what)


def empty_record(fields: Sequence[Field]) -> dict[str, object]:
    """Every column, nothing known."""
    return {field.name: None for field in fields}
