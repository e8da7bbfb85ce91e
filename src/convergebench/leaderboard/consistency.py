"""Whether the tables of a bundle fit each other, its manifest, and the keys that are hashes of their content."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from convergebench.ids import comparison_id
from convergebench.images.align import AlignMode
from convergebench.leaderboard.bundle import ResultBundle, limited
from convergebench.leaderboard.layout import Row
from convergebench.leaderboard.missing_rows import missing_measurements
from convergebench.measuring.batches import mode_of
from convergebench.metrics import load_metric
from convergebench.store.images import EXTENSIONS
from convergebench.store.step_keys import key_fault

_IMAGE = re.compile(r"i1:[0-9a-f]{64}")
_OUTCOMES = frozenset({"ok", "transient", "bad-reply", "refused", "ended", "unavailable", "error", "reused", "unknown"})
_SLACK = 1e-6
LARGEST_SIDE = 65_535


def consistency_faults(bundle: ResultBundle) -> list[str]:
    """Every contradiction, a line each."""
    checks = _Consistency(bundle)
    parts = (
        *(checks.images, checks.cases, checks.chains, checks.positions, checks.steps, checks.comparisons),
        *(checks.rounds, checks.measurements, checks.complete, checks.attempts, checks.anchors),
    )
    return [line for part in parts for line in limited(list(part()))]


class _Consistency:
    def __init__(self, bundle: ResultBundle) -> None:
        self._tables, self._manifest = bundle.tables, bundle.manifest

    @cached_property
    def _images(self) -> set[str]:
        return {row["id"] for row in self._tables["images"]}

    @cached_property
    def _cases(self) -> dict[str, Row]:
        return {row["id"]: row for row in self._tables["cases"]}

    @cached_property
    def _chains(self) -> dict[tuple[str, str], Row]:
        return {(row["editor"], row["case"]): row for row in self._tables["chains"]}

    @cached_property
    def _steps(self) -> dict[str, Row]:
        return {row["id"]: row for row in self._tables["steps"]}

    @cached_property
    def _places(self) -> dict[tuple[str, str], dict[int, str]]:
        found: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
        for row in self._tables["chain_steps"]:
            found[row["editor"], row["case"]][row["position"]] = row["step"]
        return found

    @cached_property
    def _comparisons(self) -> dict[str, Row]:
        return {row["id"]: row for row in self._tables["comparisons"]}

    def images(self) -> Iterator[str]:
        named: set[Any] = {row["image"] for name in ("cases", "steps") for row in self._tables[name]}
        named |= {row["clean"] for row in self._tables["cases"]}
        named |= {row[one] for row in self._tables["comparisons"] for one in ("subject", "reference", "via")}
        for row in self._tables["images"]:
            sides = (row["width"], row["height"])
            if not _IMAGE.fullmatch(row["id"]) or row["mime"] not in EXTENSIONS:
                yield f"image {row['id'][:80]!a}: is not an image of a run"
            elif not all(1 <= side <= LARGEST_SIDE for side in sides) or row["bytes"] < 1:
                yield f"image {row['id']}: has an impossible size"
            elif row["id"] not in named:
                yield f"image {row['id']}: belongs to no case and no step"

    def cases(self) -> Iterator[str]:
        for row in self._tables["cases"]:
            facts = self._manifest.sources.get(row["source"])
            words = [self._manifest.pairs.get(part) for part in (row["pair"], *row["pair"].split("+"))]
            if facts is None:
                yield f"case {row['id']}: its source '{row['source']}' is not in the manifest"
            elif row["image"] != f"i1:{facts['sha256']}":
                yield f"case {row['id']}: starts from another image than its source '{row['source']}'"
            elif not any(words):
                yield f"case {row['id']}: its edit '{row['pair']}' is not in the manifest"
            elif row["id"] != f"{row['source']}/{row['pair']}/{row['replicate']}":
                yield f"case {row['id']}: its id does not say its source, edit and replicate"
            elif facts.get("kind") and facts["kind"] != row["kind"]:
                yield f"case {row['id']}: shows a {row['kind']}, its source a {facts['kind']}"
            elif words[0] and words[0].get("category") not in (None, "", row["category"]):
                yield f"case {row['id']}: is in the category {row['category']}, its edit in {words[0]['category']}"
            elif row["image"] not in self._images:
                yield f"case {row['id']}: its image is not in the table of images"

    def chains(self) -> Iterator[str]:
        for (editor, case), row in self._chains.items():
            if editor not in self._manifest.editors:
                yield f"chain {editor}, {case}: its editor is not in the manifest"
            elif case not in self._cases:
                yield f"chain {editor}, {case}: its case is not in the table of cases"
            elif row["status"] in ("open", "stopped"):
                yield f"chain {editor}, {case}: is not finished (incomplete run)"
            elif not 0 <= row["rounds"] <= row["planned"] or row["planned"] < 1:
                yield f"chain {editor}, {case}: has {row['rounds']} of {row['planned']} rounds"
            elif row["status"] == "finished" and row["rounds"] < row["planned"]:
                yield f"chain {editor}, {case}: is finished with {row['rounds']} of {row['planned']} rounds"
        for editor in self._manifest.editors:
            lacking = [case for case in self._cases if (editor, case) not in self._chains]
            if lacking:
                some = f"{len(lacking)} of {len(self._cases)} cases have no chain (first: {lacking[0]})"
                yield f"chain {editor}: incomplete, {some}"

    def positions(self) -> Iterator[str]:
        placed = set()
        for chain, steps in self._places.items():
            name = f"chain {chain[0]}, {chain[1]}"
            placed |= set(steps.values())
            if chain not in self._chains or chain[1] not in self._cases:
                yield f"{name}: has steps but is not in the table of chains"
                continue
            if sorted(steps) != list(range(1, len(steps) + 1)):
                yield f"{name}: its steps have a gap"
                continue
            earlier = {self._cases[chain[1]]["image"]}
            for position in range(1, len(steps) + 1):
                step = self._steps.get(steps[position])
                if step is None:
                    yield f"{name}: step {position} is not in the table of steps"
                    break
                if step["editor"] != chain[0] or step["parent"] not in earlier:
                    yield f"{name}: step {position} does not follow from an earlier one of its chain"
                    break
                earlier.add(step["id"])
        for identity in self._steps.keys() - placed:
            yield f"step {identity}: belongs to no chain"

    def steps(self) -> Iterator[str]:
        words = {label: set(_texts(facts)) for label, facts in self._manifest.pairs.items()}
        for step in self._steps.values():
            fault = key_fault(step, self._manifest.editors)
            if fault:
                yield f"step {step['id']}: has another history than its key says"
            elif (step["status"] == "ok") != (step["image"] is not None):
                yield f"step {step['id']}: is {step['status']} and has {'an' if step['image'] else 'no'} image"
            elif step["image"] is not None and step["image"] not in self._images:
                yield f"step {step['id']}: its image is not in the table of images"
        for (editor, case), steps in self._places.items():
            pair = self._cases.get(case, {}).get("pair", "")
            allowed = set().union(*(words.get(part, set()) for part in (pair, *pair.split("+"))))
            for position, identity in sorted(steps.items()):
                if identity in self._steps and self._steps[identity]["instruction"] not in allowed:
                    yield f"step {identity}: {editor}, {case}, {position}: was asked something else than the edit says"

    def comparisons(self) -> Iterator[str]:
        for row in self._comparisons.values():
            chain = (row["editor"], row["case"])
            if chain not in self._chains or row["case"] not in self._cases:
                yield f"comparison {row['id']}: belongs to no chain"
            elif row["subject"] != self._image_at(chain, row["step"]):
                yield f"comparison {row['id']}: shows another image than step {row['step']} of its chain"
            elif row["role"] in ("return", "around") and row["reference"] != self._cases[row["case"]]["image"]:
                yield f"comparison {row['id']}: is compared with another image than the source"
            elif not self._own(chain, row["reference"]) or not self._own(chain, row["via"]):
                yield f"comparison {row['id']}: uses an image of another chain"
            elif not self._has_own_key(chain, row):
                yield f"comparison {row['id']}: has another content than its key says"

    def _has_own_key(self, chain: tuple[str, str], row: Row) -> bool:
        """Its key is made of the steps whose images it compares."""
        known = {name: row[name] for name in ("editor", "case", "role", "lag")}
        image, other = row["subject"], row["reference"]
        step = self._places.get(chain, {}).get(row["step"], image)
        subjects = [step, image, f"{image}:{row['step']}", f"{image}:{row['round']}"]
        references = [None] if other is None else [other, *self._steps_with(chain, other)]
        return any(
            row["id"] == comparison_id(subject=one, reference=two, **known) for one in subjects for two in references
        )

    def _steps_with(self, chain: tuple[str, str], image: str) -> Iterator[str]:
        """The steps of a chain, and of its first replicate, that gave this image."""
        case = self._cases[chain[1]]
        others = [chain] if case["replicate"] == 0 else [chain, (chain[0], f"{case['source']}/{case['pair']}/0")]
        for one in others:
            yield from (
                id for id in self._places.get(one, {}).values() if self._steps.get(id, {}).get("image") == image
            )

    def _image_at(self, chain: tuple[str, str], position: int) -> str | None:
        if position == 0:
            return str(self._cases[chain[1]]["image"])
        step = self._steps.get(self._places.get(chain, {}).get(position, ""))
        return step["image"] if step else None

    def _own(self, chain: tuple[str, str], image: str | None) -> bool:
        if image is None:
            return True
        case = self._cases[chain[1]]
        return image in (case["image"], case["clean"]) or any(True for _ in self._steps_with(chain, image))

    def rounds(self) -> Iterator[str]:
        """Every round that a chain claims was compared with its source."""
        seen: dict[tuple[str, str], set[int]] = defaultdict(set)
        for row in self._comparisons.values():
            if row["role"] in ("return", "around"):
                seen[row["editor"], row["case"]].add(row["round"])
        for chain, row in self._chains.items():
            if seen[chain] != set(range(1, row["rounds"] + 1)):
                yield f"chain {chain[0]}, {chain[1]}: has {row['rounds']} rounds, but {len(seen[chain])} are compared"

    def measurements(self) -> Iterator[str]:
        metrics = {name: load_metric(name) for name in self._manifest.metrics}
        align: AlignMode = self._manifest.align  # type: ignore[assignment]
        for row in self._tables["measurements"]:
            name = f"measurement {row['metric'][:40]}, {row['comparison'][:40]}"
            metric = metrics.get(row["metric"])
            if row["comparison"] not in self._comparisons:
                yield f"{name}: its comparison is not in the table of comparisons"
            elif metric is None:
                yield f"{name}: the metric is not in the manifest"
            elif row["fingerprint"] != self._manifest.metrics[row["metric"]]:
                yield f"{name}: mixed versions: {row['fingerprint'][:60]} among {self._manifest.metrics[row['metric']]}"
            elif row["align"] != mode_of(metric, align):
                yield f"{name}: is aligned by {row['align'][:20]} instead of {mode_of(metric, align)}"
            else:
                fault = _value_fault(row, metric.facts.range)
                if fault:
                    yield f"{name}: {fault}"

    def complete(self) -> Iterator[str]:
        for metric, count in missing_measurements(self._manifest.metrics, self._tables):
            yield f"metric {metric}: incomplete, {count} measurements are missing"

    def attempts(self) -> Iterator[str]:
        latest = datetime.now(UTC) + timedelta(days=1)
        answered = set()
        for row in self._tables["attempts"]:
            name = f"call {row['step'][:40]}, {row['attempt']}"
            moment = _moment(row["started"])
            if row["outcome"] not in _OUTCOMES:
                yield f"{name}: has the unknown outcome '{row['outcome'][:20]}'"
            elif moment is None or moment > latest:
                yield f"{name}: its time '{row['started'][:40]}' is not a time or lies in the future"
            if row["outcome"] in ("ok", "reused", "refused", "ended"):
                answered.add(row["step"])
        if not self._manifest.recordings:
            for identity in self._steps.keys() - answered:
                yield f"step {identity}: has no call, so its cost and time are missing"

    def anchors(self) -> Iterator[str]:
        for row in self._tables["anchors"]:
            name = f"anchor {row['anchor']}, {row['source'][:40]}, {row['metric'][:40]}"
            if row["source"] not in self._manifest.sources:
                yield f"{name}: its source is not in the manifest"
            elif self._manifest.metrics.get(row["metric"]) != row["fingerprint"]:
                yield f"{name}: mixed versions: {row['fingerprint'][:60]}"
            elif fault := _value_fault(row, load_metric(row["metric"]).facts.range):
                yield f"{name}: {fault}"


def _texts(facts: Any) -> Iterator[str]:
    """The words of an edit: forward and backward, or any text of an edit that is described in another way."""
    if isinstance(facts, dict) and facts.get("forward"):
        yield from (str(facts[name]) for name in ("forward", "backward") if facts.get(name))
        return
    for value in facts.values() if isinstance(facts, dict) else facts:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            yield from _texts(value)


def _value_fault(row: Row, allowed: tuple[float, float]) -> str:
    value = row["value"]
    if (value is None) != (row["status"] != "ok"):
        return f"has {'no' if value is None else 'a'} value with the status {row['status'][:20]}"
    low, high = allowed
    if value is not None and not low - _SLACK <= value <= high + _SLACK:
        return f"the value {value:g} is outside the metric's range, {low:g} to {high:g}"
    return ""


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
