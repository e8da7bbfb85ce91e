"""A run as a data set: read chain by chain, written record by record, whole or not at all.

An export that was interrupted goes on: records are walked anew, which is quick, and shards and pictures that are
already there are neither read nor written again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from convergebench.datasets.atomic import require_free, whole_folder
from convergebench.datasets.card import CITATION, card, description
from convergebench.datasets.checksums import write_checksums
from convergebench.datasets.croissant import About, document
from convergebench.datasets.failing import seen
from convergebench.datasets.fields import PATCHES, Table
from convergebench.datasets.formats import format_class
from convergebench.datasets.formats.base import Content, Format
from convergebench.datasets.front_matter import TAGS, front_matter
from convergebench.datasets.licences import read_licence
from convergebench.datasets.patches import PatchPlan
from convergebench.datasets.patching import Patcher
from convergebench.datasets.record import Record, Records, Rights, licence_of, origin_of
from convergebench.datasets.secrets import Blotter
from convergebench.datasets.side_tables import SideTables
from convergebench.datasets.source import ChainFacts, RunSource
from convergebench.datasets.splits import Splits, ordered
from convergebench.datasets.tally import Tally
from convergebench.documents import fault_in
from convergebench.errors import StudyError
from convergebench.redaction import SECRET, redact
from convergebench.store.images import EXTENSIONS

SHARD_BYTES = 500_000_000


@dataclass(frozen=True)
class Wishes:
    """What somebody wants of a data set."""

    form: str
    name: str | None = None
    licence: str | None = None
    include_restricted: bool = False
    """Export pictures made from sources that forbid it or forbid their sale."""
    splits: Splits = field(default_factory=Splits)
    patches: PatchPlan | None = None
    seed: int = 0
    shard_bytes: int = SHARD_BYTES
    creator: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Exported:
    """What came of it."""

    out: Path
    tally: Tally
    notices: Sequence[str]
    """What somebody should know before they publish it, a line each."""


class Done(NamedTuple):
    """How far it has come."""

    pictures: int
    of_pictures: int
    chains: int
    of_chains: int


Told = Callable[[Done], None]


def export(run: Path, out: Path, wishes: Wishes, told: Told = lambda done: None) -> Exported:
    """Write a run's pictures and all that is known about them into a new folder."""
    form_class = format_class(wishes.form)
    _require_words(wishes)
    _today()  # a day that cannot be told is told before hours of work
    require_free(out)
    with RunSource(run) as source:
        chains, left_out = _allowed(source, wishes)
        if wishes.patches is not None:
            width, height, chain = source.smallest_picture(chains)
            wishes.patches.require_fitting((width, height), f"the smallest picture, in {chain}")
        dealt = wishes.splits.deal(_origins(source, chains), wishes.seed)
        splits = ordered(dealt.values())
        with whole_folder(out, _plan(source, wishes)) as folder:
            editors = sorted({chain.editor for chain in chains})
            form = form_class(folder, splits, editors=editors, shard_bytes=wishes.shard_bytes)
            writing = _Writing(source, form, wishes, dealt, Tally(left_out=left_out))
            with form, writing.side:
                writing.chains(chains, told)
            writing.papers()
        return Exported(out, writing.tally, writing.notices())


def _plan(source: RunSource, wishes: Wishes) -> str:
    """What makes two exports the same one, so that the second may go on where the first was interrupted."""
    # shards that were made without a key in the environment were not searched for it
    keys = sorted((name, value) for name, value in os.environ.items() if SECRET.search(name))
    told = (version("convergebench"), repr(wishes), source.manifest_sha256, source.content_sha256(), keys)
    # slow on purpose: nobody should find out a key by trying which one gives this plan
    return hashlib.pbkdf2_hmac("sha256", repr(told).encode(errors="replace"), b"plan", 100_000).hex()


def _require_words(wishes: Wishes) -> None:
    words = {"name": wishes.name, "licence": wishes.licence, "creator": wishes.creator, "url": wishes.url}
    for option, text in words.items():
        if text is not None and not text.strip():
            raise StudyError(f"--{option} is empty; write something there or leave it out")
        if fault := fault_in(text):
            raise StudyError(f"--{option} {text!a}: {fault}")


def _allowed(source: RunSource, wishes: Wishes) -> tuple[list[ChainFacts], Counter[str]]:
    """The chains that may be handed on, and how many records were left out by which licence."""
    chains = list(source.chains())
    if not chains:
        raise StudyError(f"{source.root} holds no chains yet; run its study first")
    counts = source.picture_counts()
    left_out: Counter[str] = Counter()
    kept = []
    for chain in chains:
        licence = licence_of(source.manifest, chain.source)
        if read_licence(licence).restricted and not wishes.include_restricted:
            left_out[licence] += 1 + counts.get((chain.editor, chain.case), 0)
        else:
            kept.append(chain)
    if not kept:
        raise StudyError(
            f"all {left_out.total():,} pictures come from sources whose licence restricts what is made from them "
            f"({_listed(left_out)}); --include-restricted exports them, each under its own licence"
        )
    return kept, left_out


def _origins(source: RunSource, chains: Sequence[ChainFacts]) -> dict[str, str | None]:
    return {chain.picture.sha256: origin_of(source.manifest.sources.get(chain.source, {})) for chain in chains}


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in counts.most_common())


class _Writing:
    """One data set in the making."""

    def __init__(self, source: RunSource, form: Format, wishes: Wishes, dealt: dict[str, str], tally: Tally) -> None:
        self._source, self._form, self._wishes, self._dealt = source, form, wishes, dealt
        self.tally = tally
        given = read_licence(wishes.licence) if wishes.licence else None
        self._records = Records(source, Rights(given))
        self._patcher = Patcher(wishes.patches) if wishes.patches is not None else None
        self._blotter = Blotter()
        self.side = SideTables(form.root, self._records.table, self._blotter)

    def chains(self, chains: Sequence[ChainFacts], told: Told) -> None:
        """Every record of these chains."""
        counts = self._source.picture_counts()
        total = sum(1 + counts.get((chain.editor, chain.case), 0) for chain in chains)
        for number, chain in enumerate(chains):
            values, labels = self._source.values(chain), self._source.labels(chain)
            self.tally.chain(chain)
            self.tally.measurements += self.side.measurements(chain, values)
            self.tally.labels += self.side.labels(chain, labels)
            self.tally.failures.update(list(seen(labels)))
            split = self._dealt[chain.picture.sha256]
            for record in self._records.of_chain(chain, split, values, labels):
                self._record(chain, record)
                told(Done(self.tally.pictures, total, number, len(chains)))
        told(Done(total, total, len(chains), len(chains)))

    def _record(self, chain: ChainFacts, record: Record) -> None:
        self.tally.record(record.values, pictured=record.picture is not None)
        values = self._blotter.record(record.values)
        if record.picture is None:
            self.side.without_image(values)
            return
        picture = record.picture
        content = Content(picture.bytes, picture.sha256, partial(self._source.read, picture))
        self._form.add(self._records.table, values, content, EXTENSIONS[picture.mime])
        if self._patcher is not None:
            for patch, png in self._patcher.of(chain, values, self._source.read(picture)):
                cut = Content(len(png), patch["sha256"], partial(bytes, png))
                self._form.add(PATCHES, patch, cut, "png")
                self.tally.patches += 1

    def papers(self) -> None:
        """Card, Croissant file and check sums."""
        form, name = self._form, self._name
        side = {
            table: form.side_table(self.side.tables[table], file).relative_to(form.root).as_posix()
            for table, file in self.side.files().items()
        }
        tables: list[Table] = [self._records.table, *([PATCHES] if self.tally.patches else [])]
        head = front_matter(name, self.tally, form, tables, side)
        text = card(name, self._source, self._wishes.licence, self.tally, form, tables, side, self._wishes.patches)
        (form.root / "README.md").write_text(redact(head + text), encoding="utf-8")
        files, sets = [], []
        for table in tables:
            some_files, some_sets = form.croissant(table)
            files += some_files
            sets += some_sets
        about = About(
            name=name,
            description=description(self._source.manifest, self.tally),
            licences=sorted({read_licence(licence).address for licence in self.tally.licences}),
            published=_today(),
            citation=CITATION,
            keywords=TAGS,
            url=self._wishes.url,
            creator=self._wishes.creator,
        )
        written = json.dumps(document(about, files, sets), ensure_ascii=False, indent=1)
        (form.root / "croissant.json").write_text(redact(written) + "\n", encoding="utf-8")
        write_checksums(form.root)

    @property
    def _name(self) -> str:
        return self._wishes.name or self._source.manifest.name

    def notices(self) -> list[str]:
        """What somebody should know before they publish it."""
        tally, said = self.tally, []
        if tally.left_out:
            said.append(
                f"{tally.left_out.total():,} pictures are left out, since their source's licence restricts what is "
                f"made from it ({_listed(tally.left_out)}); --include-restricted exports them"
            )
        unstated = [licence for licence in tally.source_licences if read_licence(licence).unstated]
        names = sorted(name for licence in unstated for name in tally.source_licences[licence])
        if names and self._wishes.licence is None:
            said.append(
                f"{len(names)} source images have no stated licence (first: {names[0]}); settle it before publishing, "
                "then say it with --licence"
            )
        strange = [licence for licence in sorted(tally.source_licences) if not read_licence(licence).understood]
        if strange:
            said.append(
                f"{sum(len(tally.source_licences[licence]) for licence in strange)} source images have a licence that "
                f"is not understood here (first: {strange[0]}); read it before publishing"
            )
        if self._wishes.licence is not None:
            own = tally.edited_licences - Counter({self._wishes.licence: tally.pictures})
            if own:
                said.append(f"edited pictures that keep their source's licence, as it demands: {_listed(own)}")
        unfinished = tally.statuses["open"] + tally.statuses["stopped"] + tally.statuses["failed"]
        if unfinished:
            said.append(f"{unfinished:,} chains are not finished; they are exported as far as they came")
        return said


def _today() -> str:
    """The day of publication; `SOURCE_DATE_EPOCH` fixes it for those who want the same bytes again."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not epoch:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.fromtimestamp(int(epoch), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise StudyError(f"SOURCE_DATE_EPOCH={epoch[:40]}: give seconds since 1970, or unset it") from error
