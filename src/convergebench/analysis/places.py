"""How stable the order of a ranking is: in which share of resamples each editor has each place.

Source images are drawn with replacement, one fewer than there are, because resamples of full size underestimate the
spread between images. All editors are scored on the same draws. With fewer than five images there are no places, as
there are no intervals.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import FEWEST_SOURCES
from convergebench.analysis.schemas import table
from convergebench.analysis.score import Score
from convergebench.analysis.trajectories import Floats
from convergebench.studies.analysis_settings import AnalysisSettings


def place_table(features: Mapping[str, Floats], score: Score, settings: AnalysisSettings) -> pl.DataFrame:
    """The frame `places`: editor, place, share of the resamples; equal scores share the better place."""
    sources = next(iter(features.values())).shape[0] if features else 0
    if sources < FEWEST_SOURCES or len(features) < 2:
        return table("places", [])
    generator = np.random.default_rng([settings.seed, sources])
    weights = generator.multinomial(sources - 1, np.full(sources, 1 / sources), size=settings.draws).astype(np.float64)
    drawn = np.stack([score.value(weights @ each) for each in features.values()]).round(9)
    places = 1 + (drawn[None, :, :] > drawn[:, None, :]).sum(axis=1)
    rows = [
        {"editor": editor, "place": place, "share": float((own == place).mean())}
        for editor, own in zip(features, places, strict=True)
        for place in range(1, len(features) + 1)
        if (own == place).any()
    ]
    return table("places", rows)


def place_range(places: pl.DataFrame, editor: str, confidence: float) -> tuple[int | None, int | None]:
    """The lowest and highest place of an editor in this central share of the resamples."""
    own = places.filter(pl.col("editor") == editor).sort("place")
    if not own.height:
        return None, None
    tail, reached = (1 - confidence) / 2, own["share"].cum_sum().to_numpy()
    names = own["place"].to_list()
    low = int(np.argmax(reached > tail + 1e-12))
    high = int(np.argmax(reached >= 1 - tail - 1e-12))
    return names[low], names[high]
