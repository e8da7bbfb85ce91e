"""Exporting a run as a data set: read chain by chain, written record by record, complete or not at all.

An interrupted export is continued: finished shards and pictures are neither read nor written again.
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
from convergebench.datasets.croissant import DatasetFacts, document
from convergebench.datasets.fields import PATCHES, Table
from convergebench.datasets.formats import format_class
from convergebench.datasets.formats.base import Format, ImageContent
from convergebench.datasets.front_matter import TAGS, front_matter
from convergebench.datasets.licences import read_licence
from convergebench.datasets.loaded_parts import LoadedParts, load_parts
from convergebench.datasets.parts import ExportedChain
from convergebench.datasets.patches import Patcher, PatchPlan
from convergebench.datasets.pictured_tables import PicturedTables
from convergebench.datasets.record import ExportRecord, RecordMaker, Rights, licence_of, origin_of
from convergebench.datasets.secrets import Redactor
from convergebench.datasets.seen_failures import seen
from convergebench.datasets.side_tables import SideTables
from convergebench.datasets.source import RunSource
from convergebench.datasets.splits import Splits, ordered
from convergebench.datasets.tally import Tally
from convergebench.documents import fault_in
from convergebench.errors import StudyError
from convergebench.redaction import SECRET, redact
from convergebench.store.images import EXTENSIONS
from convergebench.store.queries import exporting
from convergebench.store.queries.exporting import ChainFacts
from convergebench.studies.base import study_of

SHARD_BYTES = 500_000_000


@dataclass(frozen=True)
class ExportOptions:
    """What the data set should be."""

    form: str
    name: str | None = None
    licence: str | None = None
    include_restricted: bool = False
    """Also export pictures made from sources with a restrictive licence."""
    splits: Splits = field(default_factory=Splits)
    patches: PatchPlan | None = None
    seed: int = 0
    shard_bytes: int = SHARD_BYTES
    creator: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Exported:
    """A finished export."""

    out: Path
    tally: Tally
    notices: Sequence[str]
    """What to know before publishing it, one line each."""


class ExportProgress(NamedTuple):
    """How far an export has come."""

    pictures: int
    of_pictures: int
    chains: int
    of_chains: int


OnProgress = Callable[[ExportProgress], None]


def export(run: Path, out: Path, options: ExportOptions, progress: OnProgress = lambda done: None) -> Exported:
    """Write a run's pictures and all that is known about them into a new folder."""
    form_class = format_class(options.form)
    _require_words(options)
    _today()  # an invalid date fails before hours of work
    require_free(out)
    with RunSource(run) as source:
        parts = load_parts(study_of(source.manifest.study).exports)
        if form_class.rows_only and not parts.pictured:
            raise StudyError(
                f"--as {options.form} is for runs that make training rows (study 'factory'), but this is a run of "
                f"'{source.manifest.study}'; use --as hf"
            )
        chains, held, left_out = _allowed(source, options)
        if options.patches is not None:
            width, height, chain = source.smallest_picture(chains)
            options.patches.require_fitting((width, height), f"the smallest image, in {chain}")
        splits_by_source = options.splits.deal(_origins(source, chains), options.seed)
        splits = ordered(splits_by_source.values())
        with whole_folder(out, _plan(source, options)) as folder:
            editors = sorted({chain.editor for chain in chains})
            form = form_class(folder, splits, editors=editors, shard_bytes=options.shard_bytes)
            writing = _Writing(source, form, options, splits_by_source, parts, Tally(left_out=left_out))
            with form, writing.side:
                writing.chains(chains, progress)
                writing.by_reference(held)
            writing.write_documents()
        return Exported(out, writing.tally, writing.notices())


def _plan(source: RunSource, options: ExportOptions) -> str:
    """Equal for equal exports, so that an interrupted one can be continued."""
    # finished shards were redacted with the keys of the environment at that time
    keys = sorted((name, value) for name, value in os.environ.items() if SECRET.search(name))
    content = exporting.content_sha256(source.records)
    inputs = (version("convergebench"), repr(options), source.manifest_sha256, content, keys)
    # slow on purpose: a key must not be found by trying which one gives this plan
    return hashlib.pbkdf2_hmac("sha256", repr(inputs).encode(errors="replace"), b"plan", 100_000).hex()


def _require_words(options: ExportOptions) -> None:
    words = {"name": options.name, "licence": options.licence, "creator": options.creator, "url": options.url}
    for option, text in words.items():
        if text is not None and not text.strip():
            raise StudyError(f"--{option} is empty; give a value or leave it out")
        if fault := fault_in(text):
            raise StudyError(f"--{option} {text!a}: {fault}")


def _allowed(source: RunSource, options: ExportOptions) -> tuple[list[ChainFacts], list[ChainFacts], Counter[str]]:
    """The chains that may be exported, the others, and the number of omitted records by licence."""
    chains = list(exporting.chains(source.records))
    if not chains:
        raise StudyError(f"{source.root} has no chains yet; run its study first")
    counts = exporting.image_counts(source.records)
    left_out: Counter[str] = Counter()
    kept, held = [], []
    for chain in chains:
        licence = licence_of(source.manifest, chain.source)
        if read_licence(licence).restricted and not options.include_restricted:
            left_out[licence] += 1 + counts.get((chain.editor, chain.case), 0)
            held.append(chain)
        else:
            kept.append(chain)
    if not kept:
        raise StudyError(
            f"all {left_out.total():,} images come from sources whose licence restricts derived works "
            f"({_listed(left_out)}); --include-restricted exports them, each under its own licence"
        )
    return kept, held, left_out


def _origins(source: RunSource, chains: Sequence[ChainFacts]) -> dict[str, str | None]:
    return {chain.picture.sha256: origin_of(source.manifest.sources.get(chain.source, {})) for chain in chains}


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in counts.most_common())


class _Writing:
    """An export in progress."""

    def __init__(
        self,
        source: RunSource,
        form: Format,
        options: ExportOptions,
        splits_by_source: dict[str, str],
        parts: LoadedParts,
        tally: Tally,
    ) -> None:
        self._source, self._form, self._options, self._splits = source, form, options, splits_by_source
        self.tally = tally
        given = read_licence(options.licence) if options.licence else None
        rights = Rights(given)
        self._records = RecordMaker(source, rights)
        self._patcher = Patcher(options.patches) if options.patches is not None else None
        self._redactor = Redactor()
        self.side = SideTables(form.root, self._records.table, parts.tables, self._redactor)
        self._pictured = PicturedTables(source, form, parts.pictured, rights, self._redactor)

    def chains(self, chains: Sequence[ChainFacts], progress: OnProgress) -> None:
        """Every record of these chains."""
        counts = exporting.image_counts(self._source.records)
        total = sum(1 + counts.get((chain.editor, chain.case), 0) for chain in chains)
        for number, chain in enumerate(chains):
            exported = ExportedChain(self._source, chain)
            self.tally.chain(chain)
            self.tally.rows.update(self.side.chain(exported))
            self.tally.failures.update(list(seen(exported.labels)))
            split = self._splits[chain.picture.sha256]
            used = self._pictured.chain(exported, split)
            named_only = self._pictured.names_only(exported)
            for record in self._records.of_chain(exported, split):
                index = record.values["step_index"]
                if (named_only and index == 0) or (self._form.rows_only and index not in used):
                    continue
                self._record(chain, record)
                progress(ExportProgress(self.tally.pictures, total, number, len(chains)))
        progress(ExportProgress(total, total, len(chains), len(chains)))

    def by_reference(self, held: Sequence[ChainFacts]) -> None:
        """Name what chains would have given whose pictures may not be exported."""
        self._pictured.held_back([ExportedChain(self._source, chain) for chain in held], self.side)

    def _record(self, chain: ChainFacts, record: ExportRecord) -> None:
        self.tally.record(record.values, pictured=record.picture is not None)
        values = self._redactor.record(record.values)
        if record.picture is None:
            self.side.without_image(values)
            return
        if self._form.rows_only:  # its rows hold the picture
            return
        picture = record.picture
        content = ImageContent(picture.bytes, picture.sha256, partial(self._source.read, picture))
        self._form.add(self._records.table, values, content, EXTENSIONS[picture.mime])
        if self._patcher is not None:
            for patch, png in self._patcher.of(chain, values, self._source.read(picture)):
                cut = ImageContent(len(png), patch["sha256"], partial(bytes, png))
                self._form.add(PATCHES, patch, cut, "png")
                self.tally.patches += 1

    def write_documents(self) -> None:
        """Card, Croissant file and check sums."""
        form, name = self._form, self._name
        side = {
            table: form.side_table(table, file).relative_to(form.root).as_posix()
            for table, file in self.side.files().items()
        }
        single = [] if form.rows_only else [self._records.table, *([PATCHES] if self.tally.patches else [])]
        tables: list[Table] = [*single, *self._pictured.tables()]
        if not tables:
            why = "no edit was accepted, or none that changed its image and may be redistributed"
            raise StudyError(f"{self._source.root} gave no row for --as {form.name}: {why}")
        head = front_matter(name, self.tally, form, tables, side)
        patches, own = self._options.patches, self._pictured.card()
        text = card(name, self._source, self._options.licence, self.tally, form, tables, side, patches, own)
        (form.root / "README.md").write_text(redact(head + text), encoding="utf-8")
        files, sets = [], []
        for table in tables:
            some_files, some_sets = form.croissant(table)
            files += some_files
            sets += some_sets
        about = DatasetFacts(
            name=name,
            description=description(self._source.manifest, self.tally),
            licences=sorted({read_licence(licence).address for licence in self.tally.licences}),
            published=_today(),
            citation=CITATION,
            keywords=TAGS,
            url=self._options.url,
            creator=self._options.creator,
        )
        written = json.dumps(document(about, files, sets), ensure_ascii=False, indent=1)
        (form.root / "croissant.json").write_text(redact(written) + "\n", encoding="utf-8")
        write_checksums(form.root)

    @property
    def _name(self) -> str:
        return self._options.name or self._source.manifest.name

    def notices(self) -> list[str]:
        """What to know before publishing it, one line each."""
        tally, lines = self.tally, []
        if tally.left_out:
            lines.append(
                f"{tally.left_out.total():,} images are left out, because the licence of their source restricts "
                f"derived works ({_listed(tally.left_out)}); --include-restricted exports them"
            )
        unstated = [licence for licence in tally.source_licences if read_licence(licence).unstated]
        names = sorted(name for licence in unstated for name in tally.source_licences[licence])
        if names and self._options.licence is None:
            lines.append(
                f"{len(names)} source images have no stated licence (first: {names[0]}); clarify it before "
                f"publishing, then set it with --licence"
            )
        unclear = [licence for licence in sorted(tally.source_licences) if not read_licence(licence).understood]
        if unclear:
            lines.append(
                f"{sum(len(tally.source_licences[licence]) for licence in unclear)} source images have a licence "
                f"that is not recognised (first: {unclear[0]}); read it before publishing"
            )
        if self._options.licence is not None:
            own = tally.edited_licences - Counter({self._options.licence: tally.pictures})
            if own:
                lines.append(f"edited images that keep the licence of their source, as it requires: {_listed(own)}")
        unfinished = tally.statuses["open"] + tally.statuses["stopped"] + tally.statuses["failed"]
        if unfinished:
            lines.append(f"{unfinished:,} chains are not finished; they are exported as far as they go")
        return [*lines, *self._pictured.notices()]


def _today() -> str:
    """The date of publication; `SOURCE_DATE_EPOCH` fixes it for reproducible exports."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not epoch:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.fromtimestamp(int(epoch), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise StudyError(f"SOURCE_DATE_EPOCH={epoch[:40]}: give seconds since 1970, or unset it") from error
