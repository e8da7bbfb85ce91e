"""One word per metric, what it is good for, where it contradicts the eye, and the sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from convergebench.analysis.audit.analyse import analyse_audit
from convergebench.analysis.audit.result import SCHEMAS, AuditAnalysis, AuditInput, frame_names
from convergebench.analysis.audit.verdicts import verdict_on
from convergebench.errors import StudyError
from convergebench.metrics.iqa.published import PUBLISHED
from convergebench.studies.analysis_settings import AuditSettings
from tests.analysis.audit.worlds import FACTS, QUICK, Chain, audit, row, world

FALLS, RISES = (90, 80, 70, 60), (60, 70, 80, 90)


def many(pattern: str, *, metric: str = "musiq", editor: str = "one") -> list[Chain]:
    """One image per letter: `-` falls, `+` rises, `0` stays, `?` lacks its last score. Untouched scores differ."""
    values: dict[str, tuple[float | None, ...]] = {"-": FALLS, "+": RISES, "0": (70,) * 4, "?": (*FALLS[:3], None)}
    return [
        Chain(f"i{n:02}", {metric: [n / 10, *values[letter][1:]]}, editor=editor) for n, letter in enumerate(pattern)
    ]


@pytest.mark.parametrize(
    ("pattern", "verdict", "reason"),
    [
        ("-" * 20, "sound", "No failure on 20 pictures of 20 source images under 1 editor (95%: 0–"),
        ("-" * 11, "unproven", " under 1 editor (95%: 0–31%), but the interval is not entirely below 25%."),
        ("-" * 12 + "?", "unproven", "but 1 of 13 lacks a score."),
        ("????", "too few to tell", "None of 4 pictures has all the scores that it takes."),
        ("-" * 29 + "+", "seldom fooled", "Fails on 1 of 30 pictures, 3% (95%: "),
        ("-" * 9 + "+++", "cannot be told", "with 12 images the interval includes 25%, so this is undecided."),
        ("-" * 6 + "+++", "cannot be told", "Fails on 3 of 9 pictures, 33% (95%: "),
        ("-0000000-", "often fooled", "Fails on 7 of 9 pictures, 78% (95%: "),
        ("-+++", "too few to tell", "; 4 source images are too few to tell more, it takes 5."),
        ("---", "too few to tell", "; 3 source images are too few to tell more, it takes 5."),
        (
            "++++++",
            "rewards damage",
            "Scores rise by 20.00 of 100 on average (95%: 20.00 to 20.00) by round 3; fails on 6",
        ),
        ("+", "too few to tell", "Fails on 1 of 1 picture, 100%, of one; 1 source image is too few to tell more"),
    ],
)
def test_verdicts(pattern: str, verdict: str, reason: str) -> None:
    found = row(audit(*many(pattern)).metrics, metric="musiq")
    assert found["verdict"] == verdict
    assert reason in str(found["reason"])
    assert found["white"] is (set(pattern) == {"-"})


@pytest.mark.parametrize(
    ("failed", "of", "low", "high", "verdict"),
    [
        (0, 12, 0.0, 0.24, "sound"),
        (0, 12, 0.0, 0.26, "unproven"),
        (0, 11, 0.0, 0.24, "unproven"),
        (1, 40, 0.0, 0.13, "seldom fooled"),
        (3, 9, 0.12, 0.65, "cannot be told"),
        (3, 9, 0.06, 0.79, "cannot be told"),
        (7, 9, 0.45, 0.94, "often fooled"),
        (12, 12, 0.76, 1.0, "often fooled"),
        (12, 40, 0.18, 0.45, "cannot be told"),
        (20, 60, 0.25, 0.42, "often fooled"),
    ],
)
def test_the_verdict_follows_from_the_interval(failed: int, of: int, low: float, high: float, verdict: str) -> None:
    """The same count with another interval is another verdict, and the line it is held against is printed."""
    counts = {"n_failed": failed, "n_failed_any": failed, "n_missing": 0, "n_cells": of, "n_sources": of, "images": of}
    word, reason = verdict_on({**counts, "low": low, "high": high}, "Told", QUICK)
    assert word == verdict
    assert ("25%" if high > 0.25 or failed else "it takes 12 images") in reason or verdict == "sound"


def test_a_reason_says_which_editors_it_fails_under() -> None:
    found = row(
        audit(*many("++--"), *many("----", editor="two"), *many("+---", editor="three")).metrics, metric="musiq"
    )
    assert "Fails on 3 of 12 pictures, 25%" in str(found["reason"])
    assert ": one (2 of 4) and three (1 of 4); 4 source images are too few" in str(found["reason"])


def test_all_published_metrics_have_a_row_in_their_order_then_the_others_by_name() -> None:
    given = world(
        [Chain("cat", {"share": FALLS, "musiq": FALLS})], not_run={"rali": "no plug-in", "zeta": "no weights"}
    )
    found = analyse_audit(given, QUICK)
    assert found.metrics["metric"].to_list() == [*PUBLISHED, "share", "zeta"]
    assert row(found.metrics, metric="rali")["why"] == "no plug-in"
    assert row(found.metrics, metric="dbcnn")["why"] == "not asked for in any of these runs"
    assert row(found.metrics, metric="dbcnn")["verdict"] == "not run"
    assert found.metrics.filter(status="audited")["metric"].to_list() == ["musiq", "share"]
    assert (row(found.metrics, metric="pi")["range_high"], row(found.metrics, metric="pi")["range_ours"]) == (55, True)
    assert "Not run: zeta (no weights)." in found.notes
    assert found.recommendations.filter(metric="zeta")["answer"].to_list() == ["unknown"] * 3


def test_a_metric_that_cannot_be_scaled_is_listed_with_the_setting_to_add() -> None:
    found = audit(Chain("cat", {"endless": FALLS, "musiq": FALLS}))
    result = row(found.metrics, metric="endless")
    assert result["status"] == "not run"
    assert "[analysis.audit.ranges]" in str(result["why"])
    assert "endless" not in found.gaps["metric"]


def test_a_metric_without_one_usable_score_is_not_run_and_says_why() -> None:
    found = audit(Chain("cat", {"brisque": [None, None], "musiq": FALLS}))
    assert row(found.metrics, metric="brisque")["why"] == "no usable score of 2: failed: out of memory"


def test_diagnostics_and_full_reference_metrics_are_not_audited_and_are_named() -> None:
    found = audit(Chain("cat", {"noise": FALLS, "ssim": FALLS, "musiq": FALLS}))
    assert not {"noise", "ssim"} & set(found.metrics["metric"])
    assert "No quality metric, so not audited: noise, ssim." in found.notes


def test_pi_has_a_note_on_its_bound() -> None:
    found = audit(Chain("cat", {"pi": [5, 6, 7, 8]}))
    assert "pi has no upper bound; 55 is ours; signs do not depend on it." in found.notes
    assert row(found.gaps, at=3)["gap"] == pytest.approx(-100 * 2 / 55)


def test_recommendations_print_the_line_that_was_drawn() -> None:
    sharp = [Chain(f"i{n:02}", {"musiq": [80 + n / 10, 80, 50, 20]}) for n in range(20)]
    found = audit(*sharp).recommendations
    answers = {one["purpose"]: one for one in found.filter(metric="musiq").to_dicts()}
    assert {name: one["answer"] for name, one in answers.items()} == {
        "filter": "yes", "follow a chain": "yes", "compare images": "yes",
    }  # fmt: skip
    assert "0% (95%: 0–16%) of 20 images at round 3 pass a filter at percentile 25" in answers["filter"]["reason"]
    assert "yes if the whole interval is below 25%, with care up to 50%, no above" in answers["filter"]["reason"]
    assert (
        "yes if the whole interval is at 2 or above, with care from 1, no below" in answers["compare images"]["reason"]
    )


def test_no_answer_goes_beyond_what_its_interval_supports() -> None:
    """Nothing fails and nothing passes, but of eight images: too few for a yes, and for a percentile of 5."""
    sharp = [Chain(f"i{n:02}", {"musiq": [80 + n / 10, 80, 50, 20]}) for n in range(8)]
    found = audit(*sharp)
    result = {one["purpose"]: one for one in found.recommendations.filter(metric="musiq").to_dicts()}
    assert (result["filter"]["answer"], result["follow a chain"]["answer"]) == ("with care", "with care")
    few = audit(*sharp[:7]).recommendations
    alone = row(few, metric="musiq", purpose="filter")
    assert "at percentile 50" in str(alone["reason"]), "seven are too few for 25"
    none = audit(*sharp[:4]).recommendations.filter(metric="musiq")
    assert none["answer"].to_list() == ["unknown"] * 3
    assert "4 untouched images: too few to tell, a filter at percentile 5 takes 40." in none["reason"].to_list()


def test_a_metric_that_is_often_fooled_compares_images_with_care_at_best() -> None:
    sharp = [Chain(f"i{n:02}", {"musiq": [80 + n / 10, 80, 50, 20]}) for n in range(4)]
    fooled = [Chain(f"j{n:02}", {"musiq": [80 + n / 10, 80, 81, 20]}) for n in range(8)]
    found = audit(*sharp, *fooled).recommendations
    result = row(found, metric="musiq", purpose="compare images")
    assert result["answer"] == "with care"
    assert "often fooled" in str(result["reason"])


def test_nothing_is_sound_on_the_editors_that_taught_it() -> None:
    chains = [
        Chain(f"i{n:02}", {"musiq": [80 + n / 10, 80, 50, 20], "brisque": [10 + n / 10, 20, 50, 80]}) for n in range(20)
    ]
    given = world(chains)
    taught = {**given.facts, "musiq": replace(given.facts["musiq"], learned_from=("one", "another"))}
    found = analyse_audit(replace(given, facts=taught), QUICK)
    result = row(found.metrics, metric="musiq")
    assert (result["verdict"], result["learned_from"]) == ("unproven", "one")
    assert row(found.metrics, metric="brisque")["verdict"] == "sound"
    assert "musiq, which was trained on editors like these" in found.headline[0]
    assert any(note.startswith("musiq was trained on one:") for note in found.notes)
    assert "yes" not in found.recommendations.filter(metric="musiq")["answer"].to_list()
    assert "yes" in found.recommendations.filter(metric="brisque")["answer"].to_list()


def test_between_yes_and_no_lies_care() -> None:
    """A drop of three spreads, but one in ten fails and passes: no clear yes to any purpose, and no no."""
    chains = [Chain(f"i{n:02}", {"musiq": [50 + n, 50 + n, 49 + n, 32 + n]}) for n in range(18)]
    kept = [Chain(f"j{n:02}", {"musiq": [50 + n, 50 + n, 49 + n, 66]}) for n in range(2)]
    found = audit(*chains, *kept).recommendations.filter(metric="musiq")
    assert found["answer"].to_list() == ["with care", "with care", "with care"]


def test_a_metric_that_rises_with_damage_is_good_for_nothing_however_large_the_rise() -> None:
    found = audit(*many("++++++")).recommendations.filter(metric="musiq")
    assert found["answer"].to_list() == ["no", "no", "no"]


def test_too_few_images_leave_every_purpose_unknown() -> None:
    found = audit(*many("----")).recommendations.filter(metric="musiq")
    assert found["answer"].to_list() == ["unknown"] * 3


def test_the_contradiction_is_the_highest_rise_among_plainly_damaged_pictures() -> None:
    found = audit(
        Chain("cat", {"musiq": [50, 50, 50, 95]}, damage={"lpips": [0, 0, 0.1, 0.1]}),  # rises most, hardly damaged
        Chain("dog", {"musiq": [50, 50, 40, 80]}, damage={"lpips": [0, 0, 0.5, 0.9]}),
        Chain("dog", {"musiq": [50, 50, 40, 60]}, damage={"lpips": [0, 0, 0.5, 0.9]}, replicate=1),
        Chain("owl", {"musiq": [50, 50, 40, 30]}, damage={"lpips": [0, 0, 0.5, 0.3]}),
        Chain("yak", {"musiq": [50, 50, 40, 55]}, editor="blind"),  # nobody measured this editor's damage
    ).contradictions
    worst = found.row(0, named=True)
    assert (worst["editor"], worst["case"], worst["at"]) == ("one", "dog/copy/0", 3)
    assert (worst["base_score"], worst["score"], worst["gap"]) == pytest.approx((50, 80, 30))
    assert (worst["damage_metric"], worst["damage"], worst["base_at"]) == ("lpips", 0.9, 1)
    blind = row(found, editor="blind")
    assert (worst["plain"], blind["plain"]) == (True, None)
    assert (blind["case"], blind["damage"]) == ("yak/copy/0", None)


def test_a_mild_editor_beside_a_harsh_one_is_held_against_its_own_pictures_and_marked() -> None:
    mild = [
        Chain("cat", {"musiq": [50, 50, 40, 70]}, damage={"lpips": [0, 0, 0.1, 0.1]}, editor="mild"),
        Chain("dog", {"musiq": [50, 50, 40, 60]}, damage={"lpips": [0, 0, 0.2, 0.2]}, editor="mild"),
    ]
    harsh = [
        Chain(name, {"musiq": [50, 50, 40, 51]}, damage={"lpips": [0, 0, 0.9, 0.9]}, editor="harsh")
        for name in ("cat", "dog", "owl")
    ]
    found = audit(*mild, *harsh).contradictions
    assert found.select("editor", "source", "plain").rows() == [("harsh", "cat", True), ("mild", "dog", False)]


def test_equal_rises_go_by_damage_which_is_printed_as_measured() -> None:
    found = audit(
        Chain("cat", {"musiq": [50, 50, 40, 80]}, damage={"ssim": [1, 1, 1, 0.3]}),
        Chain("dog", {"musiq": [50, 50, 40, 80]}, damage={"ssim": [1, 1, 1, 0.2]}),
    ).contradictions
    assert found.select("source", "damage").rows() == [("dog", 0.2)]


def test_the_headline_says_that_no_column_is_white() -> None:
    chains = [
        Chain(f"i{n}", {"musiq": [9, 8, 7, 9 if n < 2 else 1], "brisque": [9, 9, 8, 7 if n < 3 else 20]})
        for n in range(5)
    ]
    first, second, *_ = audit(*chains).headline
    assert first == (
        "Every one of the 2 metrics misses damage on some image; "
        "brisque rates 3 of 5 images better after 3 rounds than after one."
    )
    assert second == "2 of the 23 published metrics were run."


def test_the_headline_names_the_metrics_that_notice_and_says_when_images_are_too_few() -> None:
    first = audit(Chain("cat", {"musiq": FALLS, "brisque": FALLS})).headline[0]
    assert first.startswith(
        "1 image is too few to judge a metric: it takes 5. "
        "1 of 2 metrics catches damage on every image: musiq; brisque rates 1 of 1"
    )


def rates(found: AuditAnalysis) -> str:
    """The sentence on who fails least."""
    return next(
        one for one in found.headline if "no metric fails significantly less" in one or "Fewest failures" in one
    )


def test_no_metric_is_named_the_best_that_chance_could_have_made_it() -> None:
    """Three of nine fail against none: p is 0.25 however the images are swapped."""
    patterns = {"musiq": "---------", "share": "------+++"}
    columns = [
        {name: many(pattern, metric=name)[n].scores[name] for name, pattern in patterns.items()} for n in range(9)
    ]
    result = audit(*(Chain(f"i{n}", scores) for n, scores in enumerate(columns)))
    assert rates(result).startswith(
        "With 9 images no metric fails significantly less often than another: shares range from musiq, 0% (95%"
    )
    assert row(result.pairs, fewer="musiq")["p"] == pytest.approx(0.25)


def test_metrics_that_surely_fail_more_often_are_named_and_those_that_may_not_too() -> None:
    patterns = {"musiq": "-" * 12, "share": "-" * 10 + "++", "brisque": "-" * 12}
    columns = [
        {name: many(pattern, metric=name)[n].scores[name] for name, pattern in patterns.items()} for n in range(12)
    ]
    result = audit(*(Chain(f"i{n:02}", scores) for n, scores in enumerate(columns)))  # brisque: lower is better
    assert rates(result).startswith("Fewest failures: musiq, 0% (95%: ")
    assert "; brisque fails significantly more often; no significant difference to share with 12 images." in rates(
        result
    )
    assert row(result.pairs, fewer="musiq", more="brisque")["told"] is True
    assert row(result.pairs, fewer="musiq", more="share")["told"] is False


def test_equal_metrics_are_named_together_and_one_metric_has_a_sentence() -> None:
    """Untouched scores of 10, 20 … 80: percentile 25 keeps six of eight. Two metrics share first place."""
    chains = [
        Chain(f"i{n}", {"musiq": [10 * n, 50, 40, 60], "share": [0.1 * n, 0.9, 0.8, 0.7], "brisque": [140, 20, 30, 40]})
        for n in range(1, 9)
    ]
    result = audit(*chains).headline
    assert "Fewest failures: brisque and share, 0% (95%: 0–" in rates(audit(*chains))
    assert rates(audit(*chains)).endswith("of images; musiq fails significantly more often.")
    (passes,) = (one for one in result if one.startswith("A filter on"))
    assert passes.startswith(
        "A filter on brisque that keeps 100% of the untouched images (percentile 25) also keeps 100% (95%: "
    )
    assert passes.endswith("of the images at round 3; so does one on musiq and share.")
    alone = audit(*(Chain(f"i{n}", {"musiq": [10 * n, 50, 40, 30]}) for n in range(1, 9))).headline
    assert any(one.startswith("Failures: musiq, 0% (95%: 0–") and one.endswith("of 8 pictures.") for one in alone)
    assert any("that keeps 75% of the untouched images (percentile 25) also keeps 100%" in one for one in alone)


def test_content_or_damage_is_told_only_where_the_interval_says_so() -> None:
    def effects(drop: float, images: int = 12) -> str:
        firsts = np.linspace(40, 60, images)
        falls = [
            [first, first, first - drop / 2, first - drop * (1 + 0.02 * (n % 3))] for n, first in enumerate(firsts)
        ]
        return audit(*(Chain(f"i{n:02}", {"musiq": own}) for n, own in enumerate(falls))).headline[-1]

    assert effects(30) == "Damage moves musiq significantly more than image content does."
    assert effects(2).startswith("For 1 of 1 metric (musiq) image content moves the score significantly more than")
    for near in (5.5, 7.0):  # 0.86 and 1.09 times the spread
        assert effects(near) == "For musiq it cannot be told whether content or damage moves the score more."


def test_a_filter_that_cannot_be_set_is_said_to_be() -> None:
    result = audit(*many("----")).headline
    assert "4 untouched images are too few to set a filter: one at percentile 50 takes 5." in result


def test_missing_scores_are_not_called_failures_in_the_headline() -> None:
    first = audit(Chain("cat", {"musiq": [9, 8, 7, None], "brisque": [9, 9, 8, None]})).headline[0]
    assert "is known to catch damage on every image (1 miss some, 1 lack scores)" in first


def test_single_runs_are_told_where_they_change_the_reading() -> None:
    found = audit(Chain("cat", {"musiq": [90, 80, 60, 50]}), Chain("cat", {"musiq": [90, 80, 85, 50]}, replicate=1))
    assert any("Run by run instead of on the mean, 1 more image fails" in one for one in found.headline)
    assert row(found.metrics, metric="musiq")["n_failed_any"] == 1


def test_editors_that_only_play_a_part_are_named() -> None:
    assert "Simulated, not real editors: one." in audit(Chain("cat", {"musiq": FALLS}, simulated=True)).notes


def shapes(found: AuditAnalysis) -> dict[str, dict[str, pl.DataType]]:
    return {name: dict(getattr(found, name).schema) for name in frame_names()}


@pytest.mark.parametrize(
    "given",
    [
        world([]),
        AuditInput(pl.DataFrame(), pl.DataFrame(), pl.DataFrame(), {}),
        world([Chain("cat", {})]),
        world([Chain("cat", {"musiq": [5]})]),
        world([Chain("cat", {"musiq": [None, None, None]})]),
        world([Chain("cat", {"musiq": FALLS}, role="additions")]),
    ],
    ids=["nothing", "bare", "no scores", "one picture", "all missing", "no copies"],
)
def test_however_little_there_is_every_frame_has_its_columns(given: AuditInput) -> None:
    found = analyse_audit(given, AuditSettings(draws=50))
    assert shapes(found) == SCHEMAS
    assert "no metric can be judged" in found.headline[0]
    assert found.metrics.height == len(PUBLISHED)
    assert found.metrics["white"].any() is False


def test_contradictory_tables_are_refused_in_one_line() -> None:
    good = world([Chain("cat", {"musiq": FALLS}, damage={"ssim": FALLS})])
    twice = pl.concat([good.scores, good.scores])
    for given, settings, result in (
        (replace(good, scores=twice), QUICK, "two scores of musiq for one picture"),
        (replace(good, chains=pl.concat([good.chains, good.chains])), QUICK, "names a chain twice"),
        (replace(good, chains=good.chains.clear()), QUICK, "has no row in the chain table"),
        (replace(good, chains=good.chains.with_columns(role=pl.lit("copy"))), QUICK, "unknown role 'copy'"),
        (replace(good, chains=good.chains.with_columns(editor=pl.lit("all"))), QUICK, "an editor is named 'all'"),
        (replace(good, facts={}), QUICK, "scores of musiq but not its facts"),
        (replace(good, scores=good.scores.drop("at")), QUICK, "lacks the column at"),
        (replace(good, damage=pl.concat([good.damage, good.damage])), QUICK, "two values of ssim for one picture"),
        (good, replace(QUICK, damage="lpips"), "damage = 'lpips' in .* there are: ssim"),
        (replace(good, facts={"musiq": FACTS["musiq"]}), QUICK, "ssim has no known direction"),
    ):
        with pytest.raises(StudyError, match=result) as caught:
            analyse_audit(given, settings)
        assert "\n" not in str(caught.value)
