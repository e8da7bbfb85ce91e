"""Labels that people give: reading a CSV file, adding its labels to a run, and the rows of an empty template."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from convergebench.failures import load_detector, suits
from convergebench.failures.base import Box, ChainView
from convergebench.failures.chain_view import ChainRecord, read_chains, view_of
from convergebench.failures.evidence import cut_evidence
from convergebench.failures.examine import row_with_crops
from convergebench.failures.label_sheet import LabelSheet, read_label_sheet
from convergebench.registry import names
from convergebench.store.labels import Label, read_labels, stamp
from convergebench.store.records import Records
from convergebench.store.run import Run
from convergebench.store.tables import LabelRow

LabelSubject = tuple[str, str, str, str]
"""Editor, case, mode, and who labelled it."""


def read_list(run: Run, path: Path) -> LabelSheet:
    """The labels of a CSV file, checked against the chains of the run and the failures that have names."""
    levels = {label.mode: label.level for label in read_labels(run.journal)}
    modes = list(dict.fromkeys([*names("failures"), *levels]))
    chains = {(chain.editor, chain.case): chain.last for chain in read_chains(run.root, run.journal)}
    return read_label_sheet(path, chains, modes, level_of=_level(levels), made=stamp(run.journal))


def add_people(run: Run, labels: Sequence[Label]) -> list[Label]:
    """Write, in one transaction, the labels that differ from those already stored; returns the new ones."""
    before = _newest_labels(read_labels(run.journal, "person"))
    now = _newest_labels(iter(labels))
    new = [
        label
        for subject, stated in now.items()
        if {one.says() for one in stated} != {one.says() for one in before.get(subject, ())}
        for label in stated
    ]
    views: dict[tuple[str, str], ChainView] = {}
    records: dict[tuple[str, str], ChainRecord] = {}
    if any(label.present for label in new):
        records = {(chain.editor, chain.case): chain for chain in read_chains(run.root, run.journal)}
    rows: list[LabelRow] = []
    for label in sorted(new, key=lambda one: (one.editor, one.case)):
        evidence = None
        if label.present and label.step is not None:
            chain = (label.editor, label.case)
            if chain not in views:
                views = {chain: view_of(records[chain])}  # one chain's pictures at a time
            evidence = cut_evidence(views[chain], label.step, Box(*label.region) if label.region else None)
        rows.append(row_with_crops(run, label, evidence, *label.says(), label.made))
    run.journal.commit_now(rows)
    return new


def template_rows(records: Records, root: Path) -> Iterator[tuple[str, str, str]]:
    """(editor, case, mode): what was looked for in each chain; every fitting mode if the chain was not examined."""
    looked: dict[tuple[str, str], dict[str, None]] = {}
    for label in read_labels(records):
        looked.setdefault((label.editor, label.case), {})[label.mode] = None
    for chain in read_chains(root, records):
        kind = "restorations" if chain.restores else "edits"
        fitting = [mode for mode in names("failures") if suits(mode, [kind])]
        for mode in looked.get((chain.editor, chain.case), fitting):
            yield chain.editor, chain.case, mode


def _newest_labels(labels: Iterator[Label]) -> dict[LabelSubject, list[Label]]:
    """Each person's newest labels of each chain and mode; `labels` must be ordered from oldest to newest."""
    found: dict[LabelSubject, list[Label]] = {}
    for label in labels:
        subject = (label.editor, label.case, label.mode, label.by)
        if subject in found and found[subject][0].made != label.made:
            del found[subject]
        found.setdefault(subject, []).append(label)
    return found


def _level(known: dict[str, str]) -> Callable[[str], str]:
    """A detector is loaded only for a mode that is labelled and has never been examined.

    Only by registered name: modes come from the run's file, which must not be able to import a module.
    """
    return lambda mode: known.get(mode) or load_detector(mode).facts.level
