"""Which rows of a damaged run can be kept: those whose images and parent steps are there.

A step whose image or row is lost is open again, and so is every step made from it: when it is repeated it gives another
picture, and the later steps would not follow from that one. Deterministic editors are the exception. Calls and
questions are always kept, since they were paid for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from convergebench.store.columns import by_column
from convergebench.store.labels import LOOKED
from convergebench.store.salvage import KEYS, Salvage
from convergebench.store.step_keys import key_fault

RESTORED = "open again: the run was recovered and steps of this chain were lost"
Chain = tuple[Any, Any]
Cells = dict[str, Any]


class ConsistencyFilter:
    """Drops the rows of a salvage that cannot be kept, parents before children."""

    def __init__(self, found: Salvage, images: Collection[str], editors: Mapping[str, Mapping[str, Any]]) -> None:
        self._found, self._images, self._editors = found, images, editors
        self.dropped: dict[str, int] = {}
        self._first_lost: dict[Chain, int] = {}
        """Per chain: the first position whose step is open again."""

    def apply(self) -> None:
        """Drop them from the salvage itself; `dropped` counts them by table."""
        self._keep("images", lambda row: row["id"] in self._images)
        self._keep("cases", lambda row: row["image"] in self._images and self._is_there(row.get("clean")))
        self._keep("parts", lambda row: row["image"] in self._images)
        before = {row["id"]: row["image"] for row in self._found.rows("steps")}
        lost = self._lost_steps()
        self._keep("steps", lambda row: row["id"] not in lost)
        self._positions()
        kept = {row["image"] for table in ("steps", "cases") for row in self._found.rows(table)}
        kept |= {row.get("clean") for row in self._found.rows("cases")}
        gone = {before[step] for step in lost} - kept
        self._keep("comparisons", lambda row: self._is_whole(row, gone))
        comparisons = {row["id"] for row in self._found.rows("comparisons")}
        self._keep("measurements", lambda row: row["comparison"] in comparisons)
        cases = {row["id"] for row in self._found.rows("cases")}
        self._keep("chains", lambda row: row["case"] in cases)
        self._keep("labels", lambda row: self._is_before_loss(row, row["shown"], row["step"], row["last"]))
        self._keep("probes", lambda row: self._is_before_loss(row, row["step"]))
        self._keep("ratings", lambda row: self._is_before_loss(row, row["step"]) and row["image"] in self._images)
        # a decision is made of answers up to its position; a chain that is open again decides the rest anew
        self._keep("decisions", lambda row: self._is_before_loss(row, row["position"]))
        self._reopen()

    def _is_there(self, image: str | None) -> bool:
        return image is None or image in self._images

    def _keep(self, table: str, is_valid: Any) -> None:
        if table not in self._found.columns:
            return
        rows = self._found.tables[table]
        for key, values in list(rows.items()):
            if not is_valid(by_column(self._found.columns[table], values)):
                del rows[key]
                self.dropped[table] = self.dropped.get(table, 0) + 1

    def _lost_steps(self) -> set[str]:
        """Steps whose image or history is lost, and those made from a step that is no longer there."""
        steps = {row["id"]: row for row in self._found.rows("steps")}
        lost = {key for key, row in steps.items() if self._is_lost(row)}
        while True:
            more = {
                key
                for key, row in steps.items()
                if key not in lost
                and row["parent"].startswith("s1:")
                and (row["parent"] in lost or row["parent"] not in steps)
                and not self._editors.get(row["editor"], {}).get("deterministic")
            }
            if not more:
                return lost
            lost |= more

    def _is_lost(self, row: Cells) -> bool:
        if row["status"] == "ok" and row["image"] not in self._images:
            return True
        return bool(key_fault(row, self._editors))

    def _positions(self) -> None:
        """Drop chain positions whose step is lost, and note the first gap of each chain."""
        steps = {row["id"] for row in self._found.rows("steps")}
        taken: dict[Chain, set[int]] = {}
        for row in self._found.rows("chain_steps"):
            chain = (row["editor"], row["case"])
            if row["step"] in steps:
                taken.setdefault(chain, set()).add(row["position"])
            else:
                self._note(chain, row["position"])
        for chain, positions in taken.items():
            gaps = set(range(1, max(positions) + 1)) - positions
            for position in gaps:
                self._note(chain, position)
        for row in self._found.rows("comparisons"):
            chain = (row["editor"], row["case"])
            if row["step"] > 0 and row["step"] not in taken.get(chain, ()):
                self._note(chain, row["step"])
        self._keep("chain_steps", lambda row: row["step"] in steps)

    def _note(self, chain: Chain, position: int) -> None:
        self._first_lost[chain] = min(position, self._first_lost.get(chain, position))

    def _is_whole(self, row: Cells, gone: Collection[str]) -> bool:
        pictures = [row[name] for name in ("subject", "reference", "via") if row[name] is not None]
        places = self._found.tables["chain_steps"]
        there = row["step"] == 0 or (row["editor"], row["case"], row["step"]) in places
        return there and all(one in self._images and one not in gone for one in pictures)

    def _is_before_loss(self, row: Cells, *places: int | None) -> bool:
        first = self._first_lost.get((row["editor"], row["case"]))
        if first is None:
            return True
        looked = row.get("probe") == LOOKED  # a detector would skip a chain marked as examined
        return not looked and all(place is None or place < first for place in places)

    def _reopen(self) -> None:
        """Mark chains with losses as open, so that the same command continues them; with lost pages, all chains."""
        torn = bool(self._found.torn & {"steps", "chain_steps", "comparisons", "cases"})
        rounds: dict[Chain, int] = {}
        for row in self._found.rows("comparisons"):
            chain = (row["editor"], row["case"])
            if row["role"] in ("return", "around") and row["step"] < self._first_lost.get(chain, row["step"] + 1):
                rounds[chain] = max(rounds.get(chain, 0), row["round"])
        chains = self._found.tables["chains"]
        for values in list(chains.values()):
            row = by_column(self._found.columns["chains"], values)
            chain = (row["editor"], row["case"])
            if torn or chain in self._first_lost:
                row |= {"status": "open", "detail": RESTORED, "rounds": min(row["rounds"], rounds.get(chain, 0))}
                chains[values[: KEYS["chains"]]] = tuple(row.values())
