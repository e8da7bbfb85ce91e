"""Content against damage, ranges, filters and ranks, held against numpy and scipy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

from convergebench.analysis.audit.confound import damage_over_content
from convergebench.analysis.failures import wilson
from convergebench.studies.analysis_settings import AuditSettings
from tests.analysis.audit.worlds import Chain, audit, row

CLEAN = {"ant": 10.0, "bee": 40.0, "cat": 70.0, "dog": 80.0}


def chains(*, drop: float = 20.0, editor: str = "one") -> list[Chain]:
    """Four images that content alone spreads widely; every step takes a third of the drop."""
    return [
        Chain(name, {"musiq": [first, first, first - drop / 2, first - drop]}, editor=editor)
        for name, first in CLEAN.items()
    ]


def test_the_confound_ratio_is_mean_gap_over_spread_of_untouched_images() -> None:
    found = row(audit(*chains()).confound, metric="musiq")
    spread = np.std(list(CLEAN.values()), ddof=1)
    assert found["spread"] == pytest.approx(spread)
    assert found["ratio"] == pytest.approx(20 / spread)
    assert (found["smallest_source"], found["largest_source"]) == ("ant", "dog")
    assert (found["smallest"], found["largest"]) == pytest.approx((10, 80))
    assert (found["at"], found["mean_gap"], found["n_clean"], found["n_cells"]) == (3, pytest.approx(-20), 4, 4)
    assert (found["low"], found["high"]) == (None, None), "of four images"


def damage_and_content(images: int, ratio: float, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Gaps and untouched scores whose true ratio is known; what is on a picture spreads scores by 10."""
    random = np.random.default_rng(seed)
    names = [f"i{n:02}" for n in range(images)]
    clean = random.normal(50, 10, images)
    gaps = random.normal(-10 * ratio, 8, images)
    return pl.DataFrame({"source": names, "gap": gaps}), pl.DataFrame({"source": names, "scaled": clean})


@pytest.mark.parametrize(("images", "ratio"), [(8, 0.5), (8, 3.0), (12, 1.0)])
def test_the_interval_of_the_ratio_holds_the_truth_as_often_as_it_says(images: int, ratio: float) -> None:
    """Percentiles of drawn images hold it in 51 to 89 of a hundred."""
    found = [damage_over_content(*damage_and_content(images, ratio, seed), 0.95) for seed in range(400)]
    held = [band.low[0] <= ratio <= band.high[0] for band in found]
    assert 0.93 <= np.mean(held) <= 0.995


def test_where_the_score_may_as_well_rise_the_ratio_begins_at_nothing() -> None:
    (open_,) = damage_over_content(*damage_and_content(12, 0.1, seed=1), 0.95).low
    (clear,) = damage_over_content(*damage_and_content(12, 4.0, seed=4), 0.95).low
    assert open_ == 0.0
    assert clear > 1.0


def test_an_untouched_image_counts_once_unless_runs_score_it_differently() -> None:
    several = [*chains(), *chains(editor="two")]
    assert row(audit(*several).confound, metric="musiq")["n_clean"] == 4
    resized = Chain("ant", {"musiq": [12, 10, 9, 8]}, run="other")
    assert row(audit(*several, resized).confound, metric="musiq")["n_clean"] == 5


def test_a_difference_in_the_last_digits_is_another_device_and_no_other_image() -> None:
    elsewhere = [Chain(f"{name}", {"musiq": [first * (1 + 1e-7), 9, 8, 7]}, run="gpu") for name, first in CLEAN.items()]
    found = audit(*chains(), *elsewhere)
    assert row(found.confound, metric="musiq")["n_clean"] == 4
    assert row(found.ranges, metric="musiq")["n"] == 4 + 2 * 4 * 3


def test_two_untouched_images_are_too_few_for_a_spread() -> None:
    found = audit(*chains()[:2])
    confound = row(found.confound, metric="musiq")
    assert (confound["spread"], confound["ratio"], confound["n_clean"]) == (None, None, 2)


@pytest.mark.parametrize(("percentile", "needed"), [(5, 40), (10, 20), (25, 8), (50, 5), (75, 8), (95, 40)])
def test_a_filter_takes_enough_untouched_images_for_its_percentile(percentile: float, needed: int) -> None:
    """Two of them beyond the threshold, on average: a 5th percentile of three images would be their smallest."""

    def filtered(images: int) -> dict[str, object]:
        own = [Chain(f"i{n:02}", {"musiq": [n, 60, 50, n - 3]}) for n in range(images)]
        asked = AuditSettings(gaps=(2, 3), percentiles=(percentile,), draws=200)
        return row(audit(*own, settings=asked).filter_risk, editor="all", at=3)

    short, enough = filtered(needed - 1), filtered(needed)
    assert (short["threshold"], short["share"], short["passed"], short["low"]) == (None, None, None, None)
    assert (short["n_clean"], short["needed"]) == (needed - 1, needed)
    assert enough["threshold"] == pytest.approx(np.percentile(np.arange(needed), percentile))
    assert enough["low"] is not None


def test_scores_outside_the_range_are_counted_with_the_picture_they_belong_to() -> None:
    """BRISQUE of −9.8 after twenty copies is outside 0…150, and still a score."""
    found = row(
        audit(Chain("cat", {"brisque": [34.1, 20, 0, -9.8]}), Chain("dog", {"brisque": [151, 30, 40, 50]})).ranges,
        metric="brisque",
    )
    assert (found["below"], found["above"], found["n"]) == (1, 1, 8)
    assert (found["smallest"], found["smallest_where"]) == (-9.8, "run · one · cat/copy/0 · round 3")
    assert (found["largest"], found["largest_where"]) == (151, "run · dog, untouched")


def test_additions_upon_each_other_are_compared_step_by_step() -> None:
    found = audit(
        Chain("cat", {"musiq": [50, 40, 60, 45]}, role="additions", pair="add-fruit"),
        Chain("dog", {"musiq": [50, 20, 30, None]}, role="additions", pair="add-fruit"),
        *chains(),
    )
    added = row(found.content, role="additions")
    changes = [20, -15, 10]
    assert added["shift"] == pytest.approx(np.mean(changes))
    assert added["jumpiness"] == pytest.approx(np.std(changes, ddof=1))
    assert (added["largest"], added["n_cells"], added["drop"]) == (pytest.approx(20), 2, pytest.approx(-20))
    assert added["ratio"] == pytest.approx(np.std(changes, ddof=1) / 20)


def test_additions_apart_are_compared_with_the_untouched_picture() -> None:
    found = audit(
        Chain("cat", {"musiq": [50, 40, 60]}, role="additions-apart", pair="apart", editor="two"), *chains(drop=10)
    )
    apart = row(found.content, role="additions-apart")
    assert (apart["shift"], apart["jumpiness"]) == (pytest.approx(0), pytest.approx(np.std([-10, 10], ddof=1)))
    # this editor copied nothing, so the drop is that of all
    assert apart["drop"] == pytest.approx(-10)


def test_the_drop_of_an_editor_with_shorter_chains_is_its_own() -> None:
    added = Chain("cat", {"musiq": [50, 40, 60, 45]}, role="additions", pair="add", editor="two")
    short = [Chain(name, {"musiq": [first, first, first - 4]}, editor="two") for name, first in CLEAN.items()]
    found = audit(*chains(), *short, added)
    assert row(found.content, editor="two")["drop"] == pytest.approx(-4)


def test_a_filter_at_a_percentile_of_untouched_images_lets_some_damaged_ones_through() -> None:
    clean = np.array([10.0, 20, 30, 40, 50, 60, 70, 80])
    own = [Chain(f"i{n}", {"musiq": [first, first, first - 10, first - 20]}) for n, first in enumerate(clean)]
    found = audit(*own, settings=AuditSettings(gaps=(2, 3), percentiles=(25, 50), draws=200)).filter_risk
    quarter = row(found, percentile=25, editor="all", at=3)
    threshold = np.percentile(clean, 25)
    assert quarter["threshold"] == pytest.approx(threshold)
    assert (quarter["n"], quarter["passed"]) == (8, int((clean - 20 >= threshold).sum()))
    assert quarter["clean_share"] == 0.75
    assert row(found, percentile=50, editor="one", at=2)["share"] == 3 / 8


def test_the_interval_of_a_filter_knows_that_its_threshold_is_an_estimate() -> None:
    """All damaged pictures score 45, between the fourth and the fifth of eight: which side depends on the draw."""
    clean = [10.0, 20, 30, 44, 46, 60, 70, 80]
    own = [Chain(f"i{n}", {"musiq": [first, 50, 47, 45]}) for n, first in enumerate(clean)]
    settings = AuditSettings(gaps=(2, 3), percentiles=(50,), draws=500)
    wide = row(audit(*own, settings=settings).filter_risk, editor="all", at=3)
    assert (wide["share"], wide["low"], wide["high"]) == (1.0, 0.0, 1.0), "with another eight, none might pass"
    safe = [Chain(f"i{n}", {"musiq": [first, 99, 98, 97]}) for n, first in enumerate(clean)]
    sure = row(audit(*safe, settings=settings).filter_risk, editor="all", at=3)
    assert (sure["share"], sure["high"]) == (1.0, 1.0)
    assert sure["low"] == pytest.approx(wilson(8, 8)[0]), "no threshold of any draw would stop them"


def test_pictures_of_one_image_are_drawn_together() -> None:
    """Eight editors on eight images know no more of other images than one editor does, if all do alike."""
    clean = [10.0, 20, 30, 40, 50, 60, 70, 80]
    settings = AuditSettings(gaps=(2, 3), percentiles=(25,), draws=500)
    alone, many = (
        row(
            audit(
                *(
                    Chain(f"i{n}", {"musiq": [first, 90, 89, first - 20]}, editor=editor)
                    for n, first in enumerate(clean)
                    for editor in editors
                ),
                settings=settings,
            ).filter_risk,
            editor="all",
            at=3,
        )
        for editors in ("a", "abcdefgh")
    )
    assert (many["share"], many["n"]) == (alone["share"], 64)
    assert (many["low"], many["high"]) == pytest.approx((alone["low"], alone["high"]))


def test_a_picture_right_at_the_threshold_passes() -> None:
    found = audit(*(Chain(name, {"musiq": [40, 60, 50, 40]}) for name in "abcde"))
    assert row(found.filter_risk, percentile=50, editor="all", at=3)["passed"] == 5


def test_a_filter_is_also_tried_at_the_last_step_that_all_chains_share() -> None:
    longer = [Chain(name, {"musiq": [first, 9, 8, 7, 6]}) for name, first in CLEAN.items()]
    found = audit(*longer, settings=AuditSettings(gaps=(2,), draws=200)).filter_risk
    assert sorted(found["at"].unique()) == [2, 4]


def test_ranks_are_taken_within_chains_and_averaged() -> None:
    scores = {"cat": [50, 40, 60, 30, 20], "dog": [50, 10, 20, 30, 25]}
    damage = {"cat": [0, 0.1, 0.3, 0.2, 0.4], "dog": [0, 0.1, 0.2, 0.3, 0.4]}
    found = audit(
        *(Chain(name, {"musiq": own}, damage={"lpips-first": damage[name]}) for name, own in scores.items())
    ).ranks
    by_step = [spearmanr(range(4), own[1:]).statistic for own in scores.values()]
    by_damage = [spearmanr(damage[name][1:], own[1:]).statistic for name, own in scores.items()]
    assert row(found, editor="all", against="step")["rho"] == pytest.approx(np.mean(by_step))
    against = row(found, editor="one", against="lpips-first")
    assert against["rho"] == pytest.approx(np.mean(by_damage))
    assert (against["n_chains"], against["n_undefined"], against["n_sources"]) == (2, 0, 2)


def test_damage_is_by_what_most_chains_have_and_those_without_are_told() -> None:
    """Round trips have no value against step 1."""
    both = {"ssim": [1, 0.9, 0.8, 0.7], "ssim-first": [0.9, 1, 0.9, 0.8]}
    copied = [Chain("cat", {"musiq": [9, 8, 7, 6]}, damage=both), Chain("dog", {"musiq": [9, 8, 7, 6]}, damage=both)]
    trips = Chain("owl", {"musiq": [9, 8, 7, 6]}, damage={"ssim": both["ssim"]}, editor="trips")
    assert audit(*copied).settings.damage == "ssim-first"
    found = audit(*copied, trips)
    assert found.settings.damage == "ssim"
    assert row(found.ranks, editor="trips", against="ssim")["rho"] == pytest.approx(-1)
    named = audit(*copied, trips, settings=AuditSettings(gaps=(2, 3), draws=200, damage="ssim-first"))
    assert "1 of 3 chains (trips) have no value of ssim-first, so nothing is said of their damage." in named.notes


def test_similarity_is_turned_so_that_damage_grows() -> None:
    found = audit(Chain("cat", {"brisque": [1, 2, 3, 4]}, damage={"ssim": [1, 0.9, 0.5, 0.2]})).ranks
    assert row(found, editor="all", against="ssim")["rho"] == pytest.approx(-1)


def test_equal_pictures_have_an_infinite_psnr_which_is_the_least_damage() -> None:
    found = audit(Chain("cat", {"musiq": [9, 8, 7, 6]}, damage={"psnr": [float("inf"), float("inf"), 40, 30]})).ranks
    assert row(found, editor="all", against="psnr")["rho"] == pytest.approx(-1)


def test_constant_scores_and_short_chains_have_no_rank_correlation_and_are_counted() -> None:
    found = audit(
        Chain("cat", {"musiq": [9, 5, 5, 5]}), Chain("dog", {"musiq": [9, 8, 7]}), Chain("owl", {"musiq": [9, 8, 7, 6]})
    ).ranks
    total = row(found, editor="all", against="step")
    assert (total["rho"], total["n_chains"], total["n_undefined"]) == (pytest.approx(-1), 1, 2)
