"""What the data are made of: subsets beside the paper's, and what instructions are about."""

from __future__ import annotations

import re
from types import MappingProxyType

import polars as pl

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.paper import paper_subsets
from convergebench.analysis.factory.result import frame
from convergebench.analysis.factory.shares import share_of

WHAT = {
    "sft": "accepted first edits, those of sessions included, less what the inspector found damaged",
    "preference": "of these, edits with a picture that was judged and rejected before the accepted one; Pico's file "
    "has a row for each, other exports have one for each rejected picture of any turn",
    "multi-turn": "sessions whose every planned turn was accepted and sound",
}

BUCKETS = MappingProxyType(
    {
        "people": "person people man men woman women boy girl child children baby face hair smile crowd player",
        "animals": "animal dog cat bird horse cow sheep fish bear elephant butterfly puppy kitten duck insect",
        "plants and landscape": "tree flower grass leaf leaves plant forest mountain hill field garden beach rock river"
        " lake sea ocean water snow landscape",
        "sky, weather and season": "sky cloud sun sunset sunrise sunny rain rainy snow snowy fog storm winter summer"
        " autumn spring weather night moon",
        "buildings and streets": "building house street road city bridge tower wall window door roof church shop store"
        " skyline",
        "vehicles": "car truck bus bicycle bike motorcycle train boat ship plane airplane wheel vehicle",
        "rooms and furniture": "room table chair sofa bed lamp shelf desk kitchen floor curtain carpet cup vase bottle",
        "food and drink": "food fruit apple banana cake bread pizza meal plate coffee drink wine vegetable",
        "clothing and accessories": "shirt dress jacket coat hat glasses sunglasses shoe shoes scarf jewelry necklace"
        " earring clothing outfit mask suit",
        "text and signs": "text sign font letter word poster label logo billboard caption writing",
        "style and light": "style painting sketch cartoon anime comic film vintage grain tone lighting golden warm cool"
        " colour color palette watercolor oil",
        "framing": "zoom crop outpaint extend canvas border closer framing boundaries",
    }
)
"""Bucket → words that put an instruction into it (plurals in -s too); our own list, the paper does not print its."""
OTHER = "none of these"


def composition_table(edits: pl.DataFrame, attempts: pl.DataFrame, sessions: pl.DataFrame) -> pl.DataFrame:
    """The frame `composition`. Shares are of all rows of the three subsets, as in the paper."""
    judged = pl.col("state").is_not_null() & pl.col("score").is_not_null()
    rejected = attempts.filter(pl.col("turn") == 1, ~pl.col("accepted"), judged)
    rows = []
    for editor in edits["editor"].unique().sort():
        sound = (pl.col("outcome") == "accepted") & pl.col("fit").fill_null(True)
        accepted = edits.filter(pl.col("editor") == editor, pl.col("turn") == 1, sound)
        counts = {
            "sft": accepted.height,
            "multi-turn": sessions.filter(pl.col("editor") == editor, pl.col("whole")).height,
            "preference": accepted.join(rejected, on=["editor", "case"], how="semi").height,
        }
        whole = sum(counts.values())
        for subset, n in counts.items():
            paper_n, paper_share = paper_subsets()[subset]
            found = {"editor": editor, "subset": subset, "n": n, "share": n / whole if whole else None}
            rows.append({**found, "paper_n": paper_n, "paper_share": paper_share, "what": WHAT[subset]})
    return frame("composition", rows)


def pair_count(edits: pl.DataFrame, attempts: pl.DataFrame, editor: str) -> int:
    """Rejected pictures beside an accepted one, of all turns: the rows of an exported `preference`."""
    sound = edits.filter((pl.col("outcome") == "accepted") & pl.col("fit").fill_null(True), editor=editor)
    judged = pl.col("state").is_not_null() & pl.col("score").is_not_null()
    rejected = attempts.filter(~pl.col("accepted") & judged, editor=editor)
    return rejected.join(sound, on=["case", "turn"], how="semi").height


def buckets_of(instruction: str) -> list[str]:
    """The buckets of an instruction, or the one for none."""
    words = set(re.findall(r"[a-z]+", instruction.lower()))
    words |= {word.removesuffix("s") for word in words}
    return [bucket for bucket, keys in BUCKETS.items() if words & set(keys.split())] or [OTHER]


def content_table(edits: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `instruction_content`: long instructions of all turns."""
    rows = []
    written = edits.drop_nulls("long")
    for editor in edits["editor"].unique().sort():
        own = written.filter(pl.col("editor") == editor)
        found = [buckets_of(text) for text in own["long"]]
        for bucket in (*BUCKETS, OTHER):
            hits = [bucket in one for one in found]
            share = share_of(hits, own["source"].to_list(), bootstrap)
            counts = {"editor": editor, "bucket": bucket, "n": sum(hits), "n_instructions": own.height}
            rows.append({**counts, "share": share.value, "low": share.low, "high": share.high})
    return frame("instruction_content", rows)
