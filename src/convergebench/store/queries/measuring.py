"""Queries of measuring: what can be compared, what has been measured, which images are unrated."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from convergebench.store.connection import connect
from convergebench.store.records import Records
from convergebench.store.tables import AnchorRow, ImageRow

_BLAMES_IMAGE = "status = 'unreadable' or (status = 'source-unfit' and detail like 'images/%')"


class PixelComparison(NamedTuple):
    """A comparison with what a metric of pixels needs. `subject`, `reference`, `via` and `source` are image ids."""

    id: str
    role: str
    subject: str
    reference: str | None
    via: str | None
    operation: str | None
    instruction: str
    """Of a forward or backward edit; empty for other comparisons."""
    source: str
    """The untouched image of its case."""
    editor: str
    case: str


class QuestionComparison(NamedTuple):
    """A comparison with the words that a question about it needs."""

    id: str
    role: str
    subject: str
    reference: str | None
    via: str | None
    operation: str | None
    instruction: str | None
    reasoning: str | None
    """What the editor thought."""
    forward: str | None
    """For a backward edit: the instruction that it undoes."""
    editor: str
    case: str
    step: int


class ChainImage(NamedTuple):
    """An image of a chain; position 0 is its source."""

    editor: str
    case: str
    position: int
    image: str
    round: int


class ReplicateRound(NamedTuple):
    """A round of a later replicate beside the same round of replicate 0; both images by id."""

    editor: str
    case: str
    round: int
    step: int
    subject: str
    reference: str


class MeasurementKey(NamedTuple):
    """The primary key of a measurement."""

    comparison: str
    metric: str
    align: str
    fingerprint: str


_WITH_SOURCE = """select k.id, k.role, k.subject, k.reference, k.via, k.operation,
    case when k.role in ('forward', 'backward') then coalesce(s.instruction, '') else '' end,
    c.image, k.editor, k."case"
  from comparisons k join cases c on c.id = k."case"
  left join chain_steps p on p.editor = k.editor and p."case" = k."case" and p.position = k.step
  left join steps s on s.id = p.step"""


def comparisons_by_source(records: Records) -> Iterator[PixelComparison]:
    """Every comparison; those of one chain follow each other, and so do the chains of one source image."""
    rows = records.query(f'{_WITH_SOURCE} order by c.image, k.editor, k."case", k.step, k.lag')
    return (PixelComparison(*row) for row in rows)


def comparisons_of_chain(records: Records, editor: str, case: str) -> list[PixelComparison]:
    """Every comparison of one chain, in its order."""
    query = f'{_WITH_SOURCE} where k.editor = ? and k."case" = ? order by k.step, k.lag'
    return [PixelComparison(*row) for row in records.query(query, (editor, case))]


def comparisons_with_words(records: Records) -> list[QuestionComparison]:
    """Every comparison once, with the instruction that led to it, by chain and step."""
    rows = records.query(
        """select k.id, k.role, k.subject, k.reference, k.via, k.operation, s.instruction, s.reasoning, f.instruction,
             k.editor, k."case", k.step
           from comparisons k
           left join chain_steps p on p.editor = k.editor and p."case" = k."case" and p.position = k.step
           left join steps s on s.id = p.step
           left join comparisons d on k.role = 'backward' and d.role = 'forward' and d.editor = k.editor
             and d."case" = k."case" and d.round = k.round and d.subject = k.via and d.reference = k.reference
           left join chain_steps q on q.editor = d.editor and q."case" = d."case" and q.position = d.step
           left join steps f on f.id = q.step
           order by k.editor, k."case", k.step, k.id"""
    )
    found: dict[str, QuestionComparison] = {}
    for row in rows:  # two forward edits of a round may have given the same image
        found.setdefault(row[0], QuestionComparison(*row))
    return list(found.values())


def measured_comparisons(records: Records, metric: str, align: str, fingerprint: str) -> set[str]:
    """Comparisons that have a measurement of this metric, with a value or without."""
    query = "select comparison from measurements where metric = ? and align = ? and fingerprint = ?"
    return {comparison for (comparison,) in records.query(query, (metric, align, fingerprint))}


def measured_metrics(records: Records) -> set[str]:
    """Names of all metrics with a measurement."""
    return {metric for (metric,) in records.query("select distinct metric from measurements")}


def images_of_other_size(records: Records) -> int:
    """How many returned images have no value under strict alignment since their size is not the source's."""
    query = """select count(*) from (select distinct k.editor, k."case", k.step
               from measurements m join comparisons k on k.id = m.comparison
               where m.align = 'strict' and m.status = 'size' and k.role in ('return', 'around'))"""
    ((count,),) = records.query(query)
    return int(count)


def unrated_images(records: Records, rated: Collection[str]) -> list[ChainImage]:
    """Images of chains, sources included, that are in no comparison of these roles."""
    roles = tuple(rated)
    rows = records.query(
        f"""with pictures as (
              select p.editor, p."case", p.position, s.image from chain_steps p join steps s on s.id = p.step
              where s.image is not null
              union all
              select h.editor, h."case", 0, c.image from chains h join cases c on c.id = h."case")
            select i.editor, i."case", i.position, i.image, coalesce(max(k.round), i.position)
            from pictures i left join comparisons k on k.editor = i.editor and k."case" = i."case"
              and k.step = i.position
            group by i.editor, i."case", i.position, i.image
            having coalesce(sum(k.role in ({",".join("?" * len(roles))})), 0) = 0""",
        roles,
    )
    return [ChainImage(*row) for row in rows]


def last_images(records: Records) -> list[tuple[ChainImage, str]]:
    """The last image of every chain, with its file."""
    rows = records.query(
        """select p.editor, p."case", max(p.position), i.id, i.file from chain_steps p join steps s on s.id = p.step
           join images i on i.id = s.image group by p.editor, p."case" order by p.editor, p."case" """
    )
    return [(ChainImage(editor, case, step, image, step), file) for editor, case, step, image, file in rows]


def source_images(records: Records) -> dict[str, ImageRow]:
    """Id of a source in its suite → its untouched image, in order of the ids."""
    images = records.images()
    query = "select source, min(image) from cases group by source order by source"
    return {source: images[image] for source, image in records.query(query) if image in images}


def replicate_rounds(records: Records) -> list[ReplicateRound]:
    """Every round of a later replicate whose counterpart in replicate 0 is there."""
    rows = records.query(
        """select k.editor, k."case", k.round, k.step, k.subject, z.subject
           from comparisons k join cases c on c.id = k."case"
           join cases b on b.source = c.source and b.pair = c.pair and b.replicate = 0
           join comparisons z on z.editor = k.editor and z."case" = b.id and z.role = 'return' and z.round = k.round
           where k.role = 'return' and c.replicate > 0"""
    )
    return [ReplicateRound(*row) for row in rows]


def anchors(records: Records) -> Iterator[AnchorRow]:
    """Every value of a chance anchor."""
    return records.table(AnchorRow)


def blamed_measurements(records: Records) -> list[tuple[MeasurementKey, tuple[str, ...]]]:
    """Measurements that failed because an image could not be read, each with its image ids."""
    rows = records.query(
        f"""select m.comparison, m.metric, m.align, m.fingerprint, k.subject, k.reference, k.via, c.image
            from (select comparison, metric, align, fingerprint from measurements where {_BLAMES_IMAGE}) m
            join comparisons k on k.id = m.comparison left join cases c on c.id = k."case" """
    )
    return [(MeasurementKey(*row[:4]), tuple(image for image in row[4:] if image)) for row in rows]


def has_blamed_anchors(records: Records) -> bool:
    """Whether an anchor failed because an image could not be read."""
    return any(True for _ in records.query(f"select 1 from anchors where {_BLAMES_IMAGE} limit 1"))


def forget_others(records: Records, metric: str, fingerprint: str) -> None:
    """Remove the values of a metric under other fingerprints: a function that has changed measures everything again.

    Only for the process that holds the run open for writing.
    """
    with closing(connect(records.path)) as connection:
        connection.execute("begin immediate")
        for table in ("measurements", "anchors"):
            connection.execute(f"delete from {table} where metric = ? and fingerprint <> ?", (metric, fingerprint))
        connection.execute("commit")


def forget_blamed(records: Records, keys: Sequence[MeasurementKey]) -> None:
    """Remove these measurements and every blamed anchor, so that they are measured again.

    Only for the process that holds the run open for writing.
    """
    # a connection of its own: the journal only adds
    with closing(connect(records.path)) as connection:
        connection.execute("begin immediate")
        connection.executemany(
            "delete from measurements where comparison = ? and metric = ? and align = ? and fingerprint = ?", keys
        )
        connection.execute(f"delete from anchors where {_BLAMES_IMAGE}")
        connection.execute("commit")
