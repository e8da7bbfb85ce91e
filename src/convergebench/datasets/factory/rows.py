"""The rows of `sft`, `preference` and `multi_turn`: every product of every chain; repeated ones are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convergebench.datasets.factory.alike import Alikeness, Duplicates
from convergebench.datasets.factory.card import paragraphs, remarks
from convergebench.datasets.factory.counts import FactoryCounts
from convergebench.datasets.factory.products import (
    Example,
    PreferencePair,
    WholeSession,
    examples,
    left_out,
    pairs,
    sessions,
)
from convergebench.datasets.factory.tables import MULTI_TURN, PREFERENCE, SFT
from convergebench.datasets.factory.turns import EditAttempt, FactoryChain, FactoryTurn, factory_chain
from convergebench.datasets.fields import Table
from convergebench.datasets.licences import read_licence
from convergebench.datasets.parts import ExportedChain
from convergebench.datasets.pictured import PicturedRow, PicturedRows
from convergebench.datasets.record import Rights, licence_of
from convergebench.datasets.source import RunSource
from convergebench.store.queries.exporting import dollars_for_nothing
from convergebench.store.tables import ImageRow

Values = dict[str, Any]


class FactoryRows(PicturedRows):
    """The products of a run, chain by chain."""

    def __init__(self, source: RunSource, rights: Rights) -> None:
        self._source, self._rights = source, rights
        self._alikeness = Alikeness(source.read)
        self._seen = {table.name: Duplicates(self._alikeness) for table in (SFT, PREFERENCE, MULTI_TURN)}
        self.counts = FactoryCounts()

    def of_chain(self, chain: ExportedChain, split: str) -> Iterator[PicturedRow]:
        """The chain's example, its pairs, its session."""
        read = factory_chain(chain)
        self.counts.chain(chain, read)
        self.counts.dropped.update(left_out(read))
        made = _RowValues(chain, read, self._rights, split)
        if made.source_is_closed:
            self.counts.sources_held.add(chain.facts.source)
        for example in examples(read):
            if self._is_new(chain, "sft", [example], [example.after]):
                yield made.sft(example)
        for pair in pairs(read):
            good = Example(pair.turn, pair.chosen, pair.before, pair.better)
            if self._alikeness.same_pixels(pair.better, pair.worse):
                self.counts.dropped["preference", "chosen equals rejected"] += 1
            elif self._is_new(chain, "preference", [good], [pair.better, pair.worse]):
                self.counts.later_pairs += pair.turn.number > 1
                yield made.preference(pair)
        for session in sessions(read):
            if self._is_new(chain, "multi_turn", session.turns, [turn.after for turn in session.turns]):
                yield made.multi_turn(session)

    def _is_new(
        self, chain: ExportedChain, subset: str, turns: Sequence[Example], pictures: Sequence[ImageRow]
    ) -> bool:
        """Whether every edit changed its picture and no row before this one is the same; counts either way."""
        types = [one.turn.type.id for one in turns]
        why: str | None = None
        if any(self._alikeness.same_pixels(one.before, one.after) for one in turns):
            why = "equals its input"
        elif (sameness := self._seen[subset].seen((chain.facts.source, *types), pictures)) is not None:
            why = sameness
        if why is not None:
            self.counts.dropped[subset, why] += 1
            return False
        self.counts.rows[subset] += 1
        self.counts.by_type.update((subset, one) for one in types)
        return True

    def held_back(self, chain: ExportedChain) -> None:
        """Count what it would have given."""
        read = factory_chain(chain)
        self.counts.chain(chain, read)
        licence = licence_of(chain.manifest, chain.facts.source)
        for subset, products in (("sft", examples), ("preference", pairs), ("multi_turn", sessions)):
            self.counts.held[subset, licence] += sum(1 for _ in products(read))

    def card(self) -> list[str]:
        """Composition, success, scores, cost, who judged, and what it is not."""
        self.counts.failed = dollars_for_nothing(self._source.records)
        return paragraphs(self._source.manifest, self.counts)

    def notices(self, *, written: bool, form: str) -> list[str]:
        """What was left out, and why."""
        return remarks(self.counts, written=written, form=form)


class _RowValues:
    """The values of one chain's rows."""

    def __init__(self, chain: ExportedChain, read: FactoryChain, rights: Rights, split: str) -> None:
        self._chain, self._read = chain, read
        facts, manifest = chain.facts, chain.manifest
        source = manifest.sources.get(facts.source, {})
        licence = read_licence(licence_of(manifest, facts.source))
        self.source_is_closed = licence.closed
        self._common: Values = {
            "chain_id": facts.id,
            "case_id": facts.case,
            "image_name": facts.source,
            "editor": facts.editor,
            "editor_fingerprint": manifest.editors.get(facts.editor, {}).get("fingerprint"),
            "judge": manifest.roles.get("judge", {}).get("fingerprint"),
            "split": split,
            "source_address": str(source.get("source") or "") or None,
            "source_credit": str(source.get("credit") or "") or None,
            "source_licence": licence.text or "not stated",
            "source_sha256": facts.picture.sha256,
            "licence": rights.of_step(licence, untouched=False),
        }

    def sft(self, example: Example) -> PicturedRow:
        accepted = example.accepted
        values = {
            "id": f"{self._chain.facts.id}/sft",
            **self._asked(example.turn),
            **accepted.criteria,
            **{name: getattr(accepted, name) for name in ("score", "spread", "reason")},
            "attempt": accepted.number,
            "seed": _seed(accepted),
            "sha256": example.after.sha256,
            "step_key": _key(accepted),
            "parent_step_key": accepted.step.parent if accepted.step is not None else None,
            "cost": self._cost([example.turn]),
            **self._models([example.turn], accepted),
        }
        pictures = {"image": self._before(example.turn, example.before), "edited_image": (example.after,)}
        return self._row(SFT, values, pictures, [accepted])

    def preference(self, pair: PreferencePair) -> PicturedRow:
        chosen, rejected = pair.chosen, pair.rejected
        identity = f"{self._chain.facts.id}/turn{pair.turn.number}/rejected{rejected.number}"
        scored = chosen.score is not None and rejected.score is not None
        values = {
            "id": identity,
            **self._asked(pair.turn),
            "turn": pair.turn.number,
            "margin": (chosen.score or 0.0) - (rejected.score or 0.0) if scored else None,
            "chosen_wins": self._read.compared.get((_key(chosen) or "", _key(rejected) or "")),
            "cost": self._cost([pair.turn]),
            **self._models([pair.turn], chosen),
        }
        for name, one, picture in (("chosen", chosen, pair.better), ("rejected", rejected, pair.worse)):
            values |= {
                f"{name}_score": one.score,
                f"{name}_reason": one.reason,
                f"{name}_attempt": one.number,
                f"{name}_seed": _seed(one),
                f"{name}_sha256": picture.sha256,
                f"{name}_step_key": _key(one),
            }
        pictures = {
            "image": self._before(pair.turn, pair.before),
            "chosen": (pair.better,),
            "rejected": (pair.worse,),
        }
        return self._row(PREFERENCE, values, pictures, [chosen, rejected])

    def multi_turn(self, session: WholeSession) -> PicturedRow:
        turns, accepted = [one.turn for one in session.turns], [one.accepted for one in session.turns]
        values = {
            "id": f"{self._chain.facts.id}/session",
            "prompts": [turn.long for turn in turns],
            "short_prompts": [turn.short for turn in turns],
            "edit_type_ids": [turn.type.id for turn in turns],
            "edit_types": [turn.type.name for turn in turns],
            "scores": [one.score for one in accepted],
            "reasons": [one.reason for one in accepted],
            "attempts": [float(one.number) for one in accepted],
            "turn_sha256": [one.after.sha256 for one in session.turns],
            "step_keys": [_key(one) for one in accepted],
            "cost": self._cost(turns),
            **self._models(turns, accepted[-1]),
        }
        first = session.turns[0]
        pictures = {"image": self._before(first.turn, first.before), "turns": [one.after for one in session.turns]}
        return self._row(MULTI_TURN, values, pictures, accepted)

    def _row(
        self,
        table: Table,
        values: Mapping[str, Any],
        pictures: Mapping[str, Sequence[ImageRow]],
        made: Sequence[EditAttempt],
    ) -> PicturedRow:
        known = {**self._common, **values}
        places = {step.key: step.position for step in self._chain.steps}
        keys = [key for one in made if one.step is not None for key in (one.step.key, one.step.parent)]
        steps = {places[key] for key in keys if key in places} | (set() if self.source_is_closed else {0})
        return PicturedRow(table, {one.name: known[one.name] for one in table.plain}, pictures, frozenset(steps))

    def _before(self, turn: FactoryTurn, picture: ImageRow) -> tuple[ImageRow, ...]:
        """The picture to edit; a source that may not be handed on is only named."""
        return () if turn.number == 1 and self.source_is_closed else (picture,)

    def _asked(self, turn: FactoryTurn) -> Values:
        kind = {"edit_type_id": turn.type.id, "edit_type": turn.type.name, "category": turn.type.category}
        return {"prompt": turn.long, "short_prompt": turn.short, **kind}

    def _models(self, turns: Sequence[FactoryTurn], edited: EditAttempt) -> Values:
        return {
            "model_id": edited.step.model if edited.step is not None else None,
            "judge_model": self._model(edited.answers),
            "writer_model": self._model([turn.writer for turn in turns]),
            "rewriter_model": self._model([turn.rewriter for turn in turns]),
        }

    def _model(self, answers: Sequence[str | None]) -> str | None:
        """Who gave the first of these replies; it may have been asked in another chain."""
        for identity in filter(None, answers):
            answer = self._chain.source.records.answer(identity)
            if answer is not None:
                return answer.model
        return None

    def _cost(self, turns: Sequence[FactoryTurn]) -> float:
        paid = {answer.id: answer.dollars for answer in self._chain.answers}
        total = 0.0
        for turn in turns:
            total += sum(one.step.dollars or 0.0 for one in turn.attempts if one.step is not None)
            replies = [turn.writer, turn.rewriter, *(reply for one in turn.attempts for reply in one.answers)]
            total += sum(paid.get(reply, 0.0) for reply in replies if reply is not None)
        return total


def _seed(attempt: EditAttempt) -> int | None:
    return attempt.step.seed if attempt.step is not None else None


def _key(attempt: EditAttempt) -> str | None:
    return attempt.step.key if attempt.step is not None else None
