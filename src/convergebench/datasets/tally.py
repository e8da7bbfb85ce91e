"""What went into a data set, counted while it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convergebench.store.queries.exporting import ChainFacts


@dataclass
class Tally:
    """Counts for the card and the final message."""

    pictures: int = 0
    patches: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    """By table without pictures."""
    cost: float = 0.0
    """Dollars; a step that several chains share is paid once."""
    chains: Counter[str] = field(default_factory=Counter)
    """By variant."""
    records: Counter[str] = field(default_factory=Counter)
    """By variant."""
    families: dict[str, str] = field(default_factory=dict)
    """Variant → family."""
    editors: Counter[str] = field(default_factory=Counter)
    """Pictures by editor, the untouched sources left out."""
    simulated: set[str] = field(default_factory=set)
    models: dict[str, set[str]] = field(default_factory=dict)
    splits: Counter[str] = field(default_factory=Counter)
    sources: dict[str, set[str]] = field(default_factory=dict)
    """Split → names of source images."""
    source_licences: dict[str, set[str]] = field(default_factory=dict)
    """Licence → names of source images under it."""
    licences: Counter[str] = field(default_factory=Counter)
    """Of records."""
    edited_licences: Counter[str] = field(default_factory=Counter)
    """Of records that are no untouched source."""
    addresses: dict[str, str] = field(default_factory=dict)
    """Source image → where it comes from."""
    origins: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    """Of chains."""
    without_picture: Counter[str] = field(default_factory=Counter)
    """Steps by status."""
    failures: Counter[str] = field(default_factory=Counter)
    """Chains in which a mode is seen."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Records by the licence that kept them out."""
    _paid: set[str] = field(default_factory=set)

    def chain(self, chain: ChainFacts) -> None:
        """One more chain."""
        self.chains[chain.variant] += 1
        self.families[chain.variant] = chain.family
        self.statuses[chain.status] += 1

    def record(self, record: Mapping[str, Any], *, pictured: bool) -> None:
        """One more record."""
        if record["step_key"] is not None and record["step_key"] not in self._paid:
            self._paid.add(record["step_key"])
            self.cost += record["cost"] or 0.0
        if not pictured:
            self.without_picture[record["status"]] += 1
            return
        self.pictures += 1
        self.records[record["variant"]] += 1
        self.splits[record["split"]] += 1
        name = record["image_name"]
        self.sources.setdefault(record["split"], set()).add(name)
        self.source_licences.setdefault(record["source_licence"], set()).add(name)
        self.addresses[name] = record["source_address"] or "not stated"
        self.licences[record["licence"]] += 1
        if record["step_index"] == 0:
            self.origins[record["origin"] or "not stated"] += 1
        else:
            self.edited_licences[record["licence"]] += 1
            self.editors[record["editor"]] += 1
            self.models.setdefault(record["editor"], set()).update(filter(None, [record["model_id"]]))
        if record["simulated"]:
            self.simulated.add(record["editor"])

    @property
    def source_count(self) -> int:
        """Different names of source images."""
        return len(self.addresses)
