"""Whatever the chains look like, an editor never gains by doing its work worse, and costs no other editor a point."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from hypothesis import given as worlds
from hypothesis import settings as running
from hypothesis import strategies as st

from convergebench.analysis import AnalysisInput, AnalysisSettings
from convergebench.analysis.findings import rank_only
from tests.analysis.conftest import FACTS

ROUNDS, IMAGES = 4, 4
SETTINGS = AnalysisSettings(quality=("ssim",), semantic="gist")


def world(seed: int) -> list[dict[str, Any]]:
    """Two editors on four images, with every kind of reading and of ending."""
    generator = np.random.default_rng(seed)
    chains = []
    for editor in ("honest", "cheat"):
        for image in range(IMAGES):
            rounds = ROUNDS if generator.random() < 0.8 else int(generator.integers(0, ROUNDS))
            values = {
                "ssim": generator.uniform(-0.1, 1, rounds).tolist(),
                "gist": [float(v) if v > 0 else "featureless" for v in generator.uniform(-0.1, 1, rounds)],
                "happened": [float(v) if v > 0.2 else "cannot-tell" for v in generator.uniform(0, 1, rounds)],
                "undone": generator.uniform(0, 1, rounds).tolist(),
            }
            status = "finished" if rounds == ROUNDS else str(generator.choice(["refused", "failed"]))
            chains.append({"editor": editor, "source": f"s{image}", "values": values, "status": status})
    return chains


def scores(chains: list[dict[str, Any]]) -> dict[str, float]:
    rows, ends = [], []
    for chain in chains:
        known = {"editor": chain["editor"], "case": f"{chain['source']}/hat/0", "source": chain["source"]}
        known |= {"kind": "face", "pair": "hat", "category": "accessories", "replicate": 0}
        rounds = len(chain["values"]["ssim"])
        more = {"detail": "", "rounds": rounds, "planned": ROUNDS, "steps": 2 * rounds, "dollars": 0.0, "seconds": 0.0}
        ends.append({**known, "status": chain["status"], **more})
        for metric, column in chain["values"].items():
            for place, value in enumerate(column, start=1):
                word = value if isinstance(value, str) else "ok"
                number = None if isinstance(value, str) else value
                cell = {"round": place, "step": 2 * place, "metric": metric, "value": number, "status": word}
                rows.append({**known, **cell})
    frame = pl.DataFrame(rows, schema_overrides={"value": pl.Float64}, infer_schema_length=None)
    given = AnalysisInput(frame, pl.DataFrame(ends), dict(FACTS), frozenset(), frozenset())
    # coverage 0: everybody is ranked, so that scores can be held against each other
    found = rank_only(given, AnalysisSettings(quality=("ssim",), semantic="gist", coverage=0.0))
    return dict(found.select("editor", "score").rows())


def worse(chain: dict[str, Any], place: int, way: str) -> None:
    """Do the round worse, in one of the ways that used to pay."""
    values = chain["values"]
    if way == "refuse":
        chain["values"] = {name: column[:place] for name, column in values.items()}
        chain["status"] = "refused"
    elif way == "wreck":
        values["ssim"][place], values["gist"][place] = 0.0, "featureless"
        if place + 1 < len(values["ssim"]) and not isinstance(values["happened"][0], str):
            values["happened"][place + 1] = "symmetric"  # an even grey and its mirror image are the same
    elif way == "unreadable":
        values["ssim"][place], values["gist"][place] = "unreadable", "unreadable"
    elif way == "idle":
        values["happened"][place], values["undone"][place] = 0.0, "nothing-to-undo"
    else:
        values["undone"][place] = 0.0


@running(max_examples=150, deadline=None)
@worlds(
    seed=st.integers(0, 10_000),
    image=st.integers(0, IMAGES - 1),
    place=st.integers(0, ROUNDS - 1),
    way=st.sampled_from(["refuse", "wreck", "unreadable", "idle", "keep"]),
)
def test_nobody_gains_by_doing_worse(seed: int, image: int, place: int, way: str) -> None:
    before, after = world(seed), world(seed)
    chain = after[IMAGES + image]
    if place >= len(chain["values"]["ssim"]):
        return
    worse(chain, place, way)
    plain, changed = scores(before), scores(after)
    assert changed["cheat"] <= plain["cheat"] + 1e-9
    assert abs(changed["honest"] - plain["honest"]) < 1e-9
