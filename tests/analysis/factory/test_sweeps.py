"""Other thresholds and weights on the attempts that were made."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.analysis.factory.sweeps import choices, sweep_tables
from convergebench.studies.factory_table import FactoryTable, Weights
from tests.analysis.factory.decided_world import BOOTSTRAP, REFUSED, Told, world

TABLE = FactoryTable()


def swept(*told: Told, table: FactoryTable = TABLE) -> tuple[dict[str, dict[str, Any]], pl.DataFrame]:
    found = world(*told)
    sweeps, types = sweep_tables(found.edits, found.attempts, table, BOOTSTRAP)
    return {f"{row['sweep']} {row['choice']}": row for row in sweeps.to_dicts()}, types


def test_the_runs_own_rule_gives_the_accepted_set_itself() -> None:
    sweeps, _ = swept(Told("a", [(0.9,)]), Told("b", [(0.5, 0.8)]), Told("c", [(0.5, 0.5, 0.5)]))
    for own in ("threshold 0.7", "weights as run"):
        row = sweeps[own]
        assert row["chosen"]
        assert (row["accepted"], row["jaccard"], row["gained"], row["lost"], row["unknown"]) == (2, 1.0, 0, 0, 0)


def test_a_lower_threshold_takes_an_earlier_attempt_which_is_another_picture() -> None:
    sweeps, types = swept(Told("a", [(0.6, 0.9)]))
    row = sweeps["threshold 0.5"]
    assert (row["accepted"], row["kept"], row["gained"], row["lost"], row["jaccard"]) == (1, 0, 1, 1, 0.0)
    assert types.filter(pl.col("choice") == "0.5").height == 0, "the type has as many edits as before"


def test_edits_whose_further_attempts_were_never_made_are_unknown() -> None:
    sweeps, types = swept(Told("a", [(0.8,)]), Told("b", [(0.5, 0.5, 0.8)]))
    row = sweeps["threshold 0.9"]
    assert (row["accepted"], row["unknown"], row["share"], row["share_most"]) == (0, 1, 0.0, 0.5)
    (loser,) = types.filter(pl.col("choice") == "0.9").to_dicts()
    assert (loser["before"], loser["after"], loser["unknown"]) == (2, 0, 1)


def test_leaving_a_criterion_out_turns_what_it_alone_decided() -> None:
    obedient = (1.0, 0.5, 0.5, 0.5)
    careful = (0.2, 1.0, 1.0, 1.0)
    sweeps, _ = swept(Told("a", [(obedient,)]), Told("b", [(careful,) * 3]))
    assert sweeps["weights as run"]["accepted"] == 0
    assert sweeps["weights without instruction compliance"]["gained"] == 1
    assert sweeps["weights instruction compliance ×2"]["accepted"] == 1
    assert sweeps["weights equal"]["accepted"] == 1


def test_a_least_compliance_rejects_what_did_next_to_nothing() -> None:
    weak = (0.3, 1.0, 1.0, 1.0)
    sweeps, _ = swept(Told("a", [(weak,)]), Told("b", [(0.9,)]))
    assert sweeps["compliance at least 0"]["chosen"]
    assert sweeps["compliance at least 0.25"]["accepted"] == 2
    row = sweeps["compliance at least 0.5"]
    assert (row["accepted"], row["kept"], row["lost"], row["unknown"]) == (1, 1, 1, 1)


@given(st.floats(0, 1))
def test_the_runs_own_rule_decides_as_the_study_did_to_the_last_digit(level: float) -> None:
    """Four equal criteria add up to the level itself, give or take rounding."""
    score = Weights().score(dict.fromkeys(Weights.model_fields, level))
    told = Told("a", [(level,) if score > 0.7 else (level,) * 3])
    sweeps, _ = swept(told, table=FactoryTable(threshold=0.7))
    assert sweeps["threshold 0.7"]["accepted"] == int(score > 0.7)


def test_refused_attempts_cannot_be_scored_again() -> None:
    sweeps, _ = swept(Told("a", [(REFUSED, REFUSED, REFUSED)]), table=FactoryTable(threshold=0.7))
    assert sweeps["threshold 0.5"]["accepted"] == 0


def test_equal_weights_under_another_name_are_not_tried_twice() -> None:
    even = FactoryTable(weights=Weights(**dict.fromkeys(Weights.model_fields, 3.0)))
    named = [choice.name for choice in choices(even) if choice.sweep == "weights"]
    assert "equal" not in named
    assert "the paper's" in named
    assert "the paper's" not in [choice.name for choice in choices(TABLE)]


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=3), min_size=1, max_size=12))
def test_a_stricter_threshold_never_accepts_more(tries: list[list[float]]) -> None:
    stopped = [
        one[: next((n for n, score in enumerate(one, start=1) if score > 0.7 + 1e-9), len(one))] for one in tries
    ]
    sweeps, _ = swept(*(Told(f"p{number}", [tuple(one)]) for number, one in enumerate(stopped)))
    along = sorted((row for name, row in sweeps.items() if name.startswith("threshold")), key=lambda r: r["threshold"])
    accepted = [row["accepted"] for row in along]
    assert accepted == sorted(accepted, reverse=True)
    assert all(row["share"] <= row["share_most"] <= 1 for row in along)
    assert all(row["kept"] + row["gained"] == row["accepted"] for row in along)
    assert [row["threshold"] for row in along] == pytest.approx([0.5 + 0.05 * n for n in range(10)])
