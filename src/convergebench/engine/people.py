"""People's labels: which modes can be labelled, what a template asks, and how a list enters a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from convergebench.engine.chain_view import ChainRecord, read_chains, view_of
from convergebench.engine.evidence import cut
from convergebench.engine.examine import keep
from convergebench.failures import load_detector
from convergebench.failures.base import Box, ChainView
from convergebench.registry import names
from convergebench.store.journal import Records, Row
from convergebench.store.labels import Label, read_labels, stamp
from convergebench.store.people import People, read_people
from convergebench.store.run import Run

Matter = tuple[str, str, str, str]
"""Editor, case, mode, who."""


def read_list(run: Run, path: Path) -> People:
    """The labels of a CSV file, checked against the chains of the run and the failures that have names."""
    levels = {label.mode: label.level for label in read_labels(run.journal)}
    modes = list(dict.fromkeys([*names("failures"), *levels]))
    chains = {(chain.editor, chain.case): chain.last for chain in read_chains(run.root, run.journal)}
    return read_people(path, chains, modes, level_of=_level(levels), made=stamp(run.journal))


def add_people(run: Run, labels: Sequence[Label]) -> list[Label]:
    """Write what a person has not said already, all of it or nothing; returns what was new."""
    before = _lists(read_labels(run.journal, "person"))
    now = _lists(iter(labels))
    new = [
        label
        for matter, said in now.items()
        if {one.says() for one in said} != {one.says() for one in before.get(matter, ())}
        for label in said
    ]
    views: dict[tuple[str, str], ChainView] = {}
    records: dict[tuple[str, str], ChainRecord] = {}
    if any(label.present for label in new):
        records = {(chain.editor, chain.case): chain for chain in read_chains(run.root, run.journal)}
    rows: list[Row] = []
    for label in sorted(new, key=lambda one: (one.editor, one.case)):
        evidence = None
        if label.present and label.step is not None:
            chain = (label.editor, label.case)
            if chain not in views:
                views = {chain: view_of(records[chain])}  # one chain's pictures at a time
            evidence = cut(views[chain], label.step, Box(*label.region) if label.region else None)
        rows.append(keep(run, label, evidence, *label.says(), label.made))
    run.journal.commit_now(rows)
    return new


def template_rows(records: Records, root: Path) -> Iterator[tuple[str, str, str]]:
    """(editor, case, mode): what was looked for in each chain; in a chain that nobody examined, every mode."""
    looked: dict[tuple[str, str], dict[str, None]] = {}
    for label in read_labels(records):
        looked.setdefault((label.editor, label.case), {})[label.mode] = None
    for chain in read_chains(root, records):
        for mode in looked.get((chain.editor, chain.case), names("failures")):
            yield chain.editor, chain.case, mode


def _lists(labels: Iterator[Label]) -> dict[Matter, list[Label]]:
    """Each person's newest list on each matter; labels come with the oldest first."""
    found: dict[Matter, list[Label]] = {}
    for label in labels:
        matter = (label.editor, label.case, label.mode, label.by)
        if matter in found and found[matter][0].made != label.made:
            del found[matter]
        found.setdefault(matter, []).append(label)
    return found


def _level(known: dict[str, str]) -> Callable[[str], str]:
    """A detector is loaded only for a mode that is labelled and has never been examined.

    By its name alone: modes come out of the run, and a run must not have a module imported as `module:name`.
    """
    return lambda mode: known.get(mode) or load_detector(mode).facts.level
