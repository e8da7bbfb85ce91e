"""The chains whose truth is known, and the arithmetic of how often a detector is wrong on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.failures import Verdict, about, chains, examined, measured_by, rate, row
from benchmarks.planted import Planted, modules, real
from benchmarks.planted._damage import MAKES
from benchmarks.planted._pictures import HALVES, LONGEST, half_of, pictures
from benchmarks.planted.noise import STEPS, chain_of
from convergebench.failures import expand_detectors, load_detector
from tests.failures.planted import astronaut, green


def _verdict(name: str, mode: str, truth: int | None, step: int | None, *, counts: bool = True) -> Verdict:
    said = "nothing" if step is None else "found"
    return Verdict("noise", "lattice", name, mode, truth, "clear", "test", counts, said, step, None, "", 0.1)  # type: ignore[arg-type]


def test_every_planted_mode_has_a_detector() -> None:
    assert "benchmarks.planted.noise" in modules()
    assert set(MAKES) <= set(expand_detectors(["all"]))
    assert measured_by("benchmarks.planted.noise") == list(MAKES)


def test_a_picture_is_always_in_the_same_half_and_kinds_take_turns() -> None:
    halves = {half: pictures(9, half) for half in HALVES}
    for half, chosen in halves.items():
        assert {one.split for one in chosen} == {half}
        assert {half_of(one.name) for one in chosen} == {half}
        assert [one.image.kind for one in chosen] == ["face", "object", "scene"] * 3
        assert max(chosen[0].pixels.shape) <= LONGEST
    assert pictures(4, "test") == halves["test"][:4]


@pytest.mark.parametrize("make", [make for makes in MAKES.values() for make in makes])
def test_a_planted_failure_changes_the_picture_more_the_stronger_it_is(make: object) -> None:
    assert callable(make)
    source = astronaut()
    changes = [
        float(np.square(make(source, strength, np.random.default_rng(1)).astype(np.float32) - source).mean())
        for strength in range(3)
    ]
    assert 0 < changes[0] < changes[1] < changes[2]


def test_a_chain_is_examined_and_what_was_said_is_kept() -> None:
    pixels = astronaut()
    frames = [pixels, *[green(pixels, 1)] * STEPS]
    chain = Planted(
        "colour-cast/clear/green/astronaut", "colour-cast", chain_of("name", "astronaut", frames), 1, "clear"
    )
    verdict = examined(chain, "benchmarks.planted.noise", load_detector("colour-cast"))
    assert (verdict.said, verdict.step, verdict.positive, verdict.decided) == ("found", 1, True, True)
    other = examined(chain, "benchmarks.planted.noise", load_detector("lattice"))
    assert (other.said, other.step, other.positive) == ("nothing", None, False)


@pytest.mark.slow
def test_the_first_chains_of_a_module_come_in_order_and_know_their_truth() -> None:
    first = next(chains("benchmarks.planted.noise", 1, 1, "test"))
    assert first.name.startswith("static-noise/subtle/")
    assert first.truth is not None
    assert first.chain.last == STEPS


def test_every_real_chain_that_is_labelled_says_what_was_looked_for() -> None:
    known = set(expand_detectors(["all"]))
    rows = real.labels()
    assert rows
    assert len({one.chain for one in rows}) == len(rows)
    for one in rows:
        assert {*one.present, *one.absent} <= known, one.chain
        assert not set(one.present) & set(one.absent), one.chain
        assert all(1 <= step <= real.STEPS for step in one.present.values()), one.chain


def test_chains_that_are_not_here_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CHAINS", str(tmp_path))
    monkeypatch.setattr(real, "_made", {})
    assert "set CONVERGEBENCH_CHAINS" in str(real.chain_of(real.Labels("flux/scene_01_chair", {}, ())))
    assert real.chain_of(real.Labels("taesd/no-such-picture", {}, ())) == "no picture no-such-picture"
    unknown = real.Labels("no-such-editor/lounge", {}, ())
    assert "unknown editor 'no-such-editor'" in str(real.chain_of(unknown))


def test_a_real_chain_is_measured_only_by_what_was_looked_for() -> None:
    pixels = astronaut()
    chain = Planted("flux/x/lattice", "lattice", chain_of("x", "x", [pixels] * 4), None, only=frozenset({"lattice"}))
    assert [one.facts.name for one in about(chain, [load_detector("lattice"), load_detector("colour-cast")])] == [
        "lattice"
    ]


def test_rates_have_wilson_intervals() -> None:
    assert rate(0, 20) == "0.0 % (0.0–16.1)"
    assert rate(5, 10) == "50.0 % (23.7–76.3)"
    assert rate(0, 0) == "–"


def test_a_row_counts_misses_false_alarms_and_onset_errors() -> None:
    verdicts = [
        _verdict("a", "lattice", 3, 4),
        _verdict("b", "lattice", 3, None),
        _verdict("c", "colour-cast", 2, 2),  # a false alarm
        _verdict("d", "clean", None, None),
        _verdict("e", "texture-loss", 2, 2, counts=False),  # comes with it: neither right nor wrong
    ]
    cells = [cell.strip() for cell in row("lattice", verdicts).strip("|").split("|")]
    assert cells[1] == "2"
    assert cells[2].startswith("50.0 %")
    assert cells[7] == "2"
    assert cells[8].startswith("50.0 %")
    assert cells[9] == "+1 (100%)"
