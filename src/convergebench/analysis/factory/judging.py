"""How the judge scores: histograms, what it says a second time, what order does to it, and replies without a value."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
from scipy.special import ndtr

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.decided import DecidedChain
from convergebench.analysis.factory.result import frame
from convergebench.analysis.factory.shares import mean_of, share_of
from convergebench.analysis.trajectories import Floats
from convergebench.studies.factory_table import CRITERIA

BINS = 20
"""Bins of a score between 0 and 1."""


def histogram_table(edits: pl.DataFrame, attempts: pl.DataFrame) -> pl.DataFrame:
    """The frame `judge_histograms`: scores and criteria of every judged attempt, and attempts per edit."""
    rows = []
    for editor in edits["editor"].unique().sort():
        judged = attempts.filter(pl.col("editor") == editor, pl.col("score").is_not_null())
        for name in ("score", *CRITERIA):
            known = judged.drop_nulls(name)
            values, accepted = known[name].to_numpy(), known["accepted"].to_numpy().astype(bool)
            counts, ends = np.histogram(values, bins=BINS, range=(0, 1))
            taken, _ = np.histogram(values[accepted], bins=BINS, range=(0, 1))
            rows += [
                {"editor": editor, "of": name, "low": low, "high": high, "n": int(n), "accepted": int(good)}
                for low, high, n, good in zip(ends[:-1], ends[1:], counts, taken, strict=True)
            ]
        tried = edits.filter(pl.col("editor") == editor, pl.col("attempts") > 0, pl.col("outcome") != "open")
        for (number,), part in tried.sort("attempts").group_by("attempts", maintain_order=True):
            good = part.filter(pl.col("outcome") == "accepted").height
            rows.append(
                {"editor": editor, "of": "attempts", "low": number, "high": number, "n": part.height, "accepted": good}
            )
    return frame("judge_histograms", rows)


def noise_table(attempts: pl.DataFrame, threshold: float, bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `judge_noise`, from edits with at least two replies; editors without one have no row."""
    rows = []
    for editor in attempts["editor"].unique().sort():
        own = attempts.filter(pl.col("editor") == editor).drop_nulls("scores")
        replies = [np.array(json.loads(text), dtype=np.float64) for text in own["scores"]]
        kept = [(source, each) for source, each in zip(own["source"], replies, strict=True) if each.size > 1]
        if kept:
            rows.append(
                {"editor": editor, **_noise([one[0] for one in kept], [one[1] for one in kept], threshold, bootstrap)}
            )
    return frame("judge_noise", rows)


def _noise(sources: list[str], replies: list[Floats], threshold: float, bootstrap: Bootstrap) -> dict[str, object]:
    variance = mean_of([float(each.var(ddof=1)) for each in replies], sources, bootstrap, bounds=(0, np.inf))
    means = np.array([each.mean() for each in replies])
    sd = float(np.sqrt(variance.value or 0.0))
    single = mean_of([disagreement(each, threshold) for each in replies], sources, bootstrap, bounds=(0, 1))
    sizes = np.array([each.size for each in replies])
    return {
        **{"n_edits": len(replies), "n_sources": variance.n_sources, "replies": int(sizes.sum()), "sd": sd},
        "low": None if variance.low is None else float(np.sqrt(max(0.0, variance.low))),
        "high": None if variance.high is None else float(np.sqrt(variance.high)),
        "between_sd": float(means.std(ddof=1)) if means.size > 1 else None,
        **{"flip_single": single.value, "flip_single_low": single.low, "flip_single_high": single.high},
        "flip": float(turning(means - threshold, sd, sizes).mean()),
        "near": int((np.abs(means - threshold) <= 2 * sd).sum()),
    }


def disagreement(scores: Floats, threshold: float) -> float:
    """The share of pairs of replies to one question of which one would accept and the other would not; unbiased."""
    above, replies = int((scores > threshold).sum()), scores.size
    return 2 * above * (replies - above) / (replies * (replies - 1))


def turning(distance: Floats, sd: float, replies: Floats) -> Floats:
    """How likely the mean of as many new replies falls on the other side of the threshold, for normal noise.

    The old mean has the same noise as the new one, so their difference has twice its variance.
    """
    if sd == 0:
        return np.zeros_like(distance)
    return np.asarray(ndtr(-np.abs(distance) / (sd * np.sqrt(2 / replies))))


def pair_table(chains: list[DecidedChain], bootstrap: Bootstrap) -> pl.DataFrame:
    """The frame `judge_pairs`; editors without judged pairs have no row."""
    rows = []
    for editor in dict.fromkeys(chain.editor for chain in chains):
        own = [(chain.source, one) for chain in chains if chain.editor == editor for one in chain.of("pair")]
        whole = [(s, one) for s, one in own if one["chosen_first"] is not None and one["chosen_second"] is not None]
        if not whole:
            continue
        sources = [source for source, _ in whole]
        first, second = (np.array([one[key] for _, one in whole]) for key in ("chosen_first", "chosen_second"))
        consistent = share_of(np.sign(first - 0.5) == np.sign(second - 0.5), sources, bootstrap)
        ahead = mean_of((first + 1 - second) / 2, sources, bootstrap, bounds=(0, 1))
        agrees = share_of((first + second) / 2 > 0.5, sources, bootstrap)
        rows.append(
            {
                **{"editor": editor, "n_pairs": len(whole), "n_sources": consistent.n_sources},
                "n_missing": len(own) - len(whole),
                **{"consistent": consistent.value, "consistent_low": consistent.low},
                **{"consistent_high": consistent.high, "first_preferred": ahead.value, "first_low": ahead.low},
                **{"first_high": ahead.high, "agrees": agrees.value, "agrees_low": agrees.low},
                "agrees_high": agrees.high,
            }
        )
    return frame("judge_pairs", rows)


def reply_table(chains: list[DecidedChain]) -> pl.DataFrame:
    """The frame `role_replies`: questions, repetitions, and questions that stayed without a usable reply."""
    rows = []
    for editor in dict.fromkeys(chain.editor for chain in chains):
        counts: dict[str, list[int]] = {}
        for chain in (one for one in chains if one.editor == editor):
            for role, questions, asked, unparsed in _asked(chain):
                found = counts.setdefault(role, [0, 0, 0])
                found[0] += questions
                found[1] += asked - questions
                found[2] += unparsed
        rows += [
            {"editor": editor, "role": role, "questions": found[0], "asked_again": found[1], "unparsed": found[2]}
            for role, found in counts.items()
        ]
    return frame("role_replies", rows)


def _asked(chain: DecidedChain) -> list[tuple[str, int, int, int]]:
    """role, questions, how often they were asked, how many have no value."""
    found = [("detector", 1, one["asked"], int(one["person"] is None)) for one in chain.of("content")]
    found += [("writer", 1, one["asked"], 0) for one in chain.of("instruction")]
    found += [("writer", 1, one["asked"], 1) for one in chain.of("unwritten")]
    found += [
        ("rewriter", 1, one["rewriter_asked"], int(one["short"] is None))
        for one in chain.of("instruction")
        if "rewriter_asked" in one
    ]
    found += [
        ("judge", len(one["answers"]), one["asked"], len(one["answers"]) - one["parsed"])
        for one in chain.of("attempt")
        if "answers" in one
    ]
    found += [("inspector", 1, one["asked"], int(one["quality"] is None)) for one in chain.of("inspection")]
    return found
