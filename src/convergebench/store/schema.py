"""The tables of `run.sqlite`, as numbered migrations. A migration is never edited once released; add the next one."""

from __future__ import annotations

import sqlite3

from convergebench.errors import StudyError

M001 = """
create table images (
  id text primary key,            -- i1:sha256 of the bytes as received
  file text not null,             -- path inside the run directory
  mime text not null,
  width integer not null,
  height integer not null,
  bytes integer not null
) without rowid;
create table cases (
  id text primary key,
  source text not null,           -- id in its suite
  image text not null references images(id),
  kind text not null,
  pair text not null,
  category text not null,
  replicate integer not null
) without rowid;
create table chains (
  editor text not null,
  "case" text not null references cases(id),
  plan text not null,             -- what a finished chain was asked to do
  status text not null,           -- open finished refused failed ended stopped
  detail text not null default '',
  rounds integer not null default 0,
  planned integer not null,
  primary key (editor, "case")
) without rowid;
create table steps (
  id text primary key,            -- s1:hash of its history
  parent text not null,
  editor text not null,
  instruction text not null,
  settings text not null,
  seed integer not null,
  replicate integer not null,
  status text not null,           -- ok refused ended
  image text references images(id),
  detail text not null default '',
  reasoning text
) without rowid;
create table chain_steps (
  editor text not null,
  "case" text not null,
  position integer not null,      -- 1, 2, 3 …
  step text not null references steps(id),
  primary key (editor, "case", position)
) without rowid;
create table attempts (
  step text not null,
  attempt integer not null,
  editor text not null,
  started text not null,
  seconds real not null,
  dollars real not null,
  outcome text not null,          -- ok transient bad-reply refused ended error reused
  error text not null default '',
  model text,
  raw text,
  primary key (step, attempt)
) without rowid;
create index attempts_by_editor on attempts (editor, outcome, dollars, seconds);
create table answers (
  id text primary key,
  role text not null,
  payload text not null,
  value text,                     -- JSON, null when the reply could not be parsed
  raw text not null,
  model text not null,
  seconds real not null,
  dollars real not null
) without rowid;
create table comparisons (
  id text primary key,
  editor text not null,
  "case" text not null,
  role text not null,
  round integer not null,
  step integer not null,
  lag integer not null,
  subject text not null,          -- image ids
  reference text,
  via text,
  operation text
) without rowid;
create index comparisons_by_chain on comparisons (editor, "case", step);
create table measurements (
  comparison text not null references comparisons(id),
  metric text not null,
  align text not null,
  fingerprint text not null,
  value real,
  status text not null,
  detail text not null default '',
  primary key (comparison, metric, align, fingerprint)
) without rowid;
"""

M002 = """
create table steps_2 (
  id text primary key,            -- s1:hash of its history
  parent text not null,
  editor text not null,
  instruction text not null,
  settings text not null,
  seed integer,                   -- null: the editor takes none
  replicate integer not null,
  status text not null,           -- ok refused ended
  image text references images(id),
  detail text not null default '',
  reasoning text,
  used text                       -- JSON: what was really sent beside the words
) without rowid;
insert into steps_2 select *, null from steps;
drop table steps;
alter table steps_2 rename to steps;
"""

M003 = """
alter table steps add column draw integer not null default 0;  -- which of several answers to the same words
create table labels (
  id text primary key,
  editor text not null,
  "case" text not null,
  mode text not null,             -- a failure mode, e.g. colour-cast
  level text not null,            -- sub-object object image noise
  present integer,                -- 1 seen, 0 looked for and not seen, null could not be told
  step integer,                   -- where it is first seen; null unless present
  last integer,                   -- where it is last seen; null: to the end of the chain
  shown integer,                  -- the step whose picture shows it best
  region text,                    -- JSON [x, y, width, height] as shares of that picture, null: all of it
  evidence text,                  -- the crop's file inside the run directory
  confidence real,
  source text not null,           -- rule judge person
  "by" text not null,             -- fingerprint of the detector, or who labelled
  detail text not null default '',
  made text not null
) without rowid;
create index labels_by_chain on labels (editor, "case", mode);
create table probes (
  editor text not null,
  "case" text not null,
  step integer not null,
  probe text not null,            -- a number that a detector worked out, e.g. lattice
  "by" text not null,
  value real,
  primary key (editor, "case", step, probe, "by")
) without rowid;
"""
"""Several draws of one step; failure labels with their evidence, and the numbers that detectors looked at."""

M004 = """
create table anchors (
  source text not null,           -- id in its suite
  anchor text not null,           -- noise grey other
  metric text not null,
  fingerprint text not null,
  value real,
  status text not null,
  detail text not null default '',
  primary key (source, anchor, metric, fingerprint)
) without rowid;
"""
"""What metrics say of pictures that have nothing to do with the source: where chance is."""

M005 = """
alter table attempts add column settled integer not null default 1;  -- 0: nobody knows whether it is charged
alter table attempts add column part text not null default '';       -- which part of a made editor was called
insert into attempts
  select a.id, 1 + coalesce((select max(t.attempt) from attempts t where t.step = a.id), 0), 'role:' || a.role, '',
         a.seconds, a.dollars, 'ok', '', a.model, null, 1, ''
  from answers a where a.dollars > 0;
create table parts (
  id text primary key,            -- p1:hash of what the part was asked
  step text not null,             -- the step for which it was asked
  fingerprint text not null,
  image text not null references images(id),
  model text not null,
  reasoning text,
  raw text,
  used text not null              -- JSON
) without rowid;
"""
"""Every call has a row before it is made (outcome `unknown`, at its price), so that none is lost with its process;
answers of an editor's parts are kept. What questions cost stands in `attempts`, as for edits."""

M006 = """
alter table answers add column editor text;      -- the chain in which it was asked; null: in none, or not known
alter table answers add column "case" text;
alter table answers add column position integer; -- after how many steps of the chain
alter table cases add column clean text references images(id);  -- the clean reference of a degraded source
create table ratings (
  id text primary key,            -- r1:hash of who rated what
  editor text not null,
  "case" text not null,
  step integer not null,
  image text not null references images(id),
  question text not null,
  value real,                     -- null: not answered
  rater text not null,            -- who rated: a person, or a model
  source text not null,           -- person role
  detail text not null default '',
  made text not null
) without rowid;
create index ratings_by_chain on ratings (editor, "case", step);
"""
"""Answers know their chain; cases may have a clean reference; people's and models' ratings of images."""

M007 = """
create table decisions (
  editor text not null,
  "case" text not null,
  number integer not null,        -- from 1, in the order of the chain
  position integer not null,      -- after how many steps of the chain
  kind text not null,             -- one word of the study's own
  facts text not null,            -- JSON
  primary key (editor, "case", number)
) without rowid;
"""
"""What studies decide inside a chain: accepted, discarded, stopped."""

MIGRATIONS: tuple[str, ...] = (M001, M002, M003, M004, M005, M006, M007)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database up to the newest schema; a newer one than this package knows is refused."""
    (version,) = connection.execute("pragma user_version").fetchone()
    if version > len(MIGRATIONS):
        raise StudyError(
            f"this run was written by a newer convergebench (schema {version}, known {len(MIGRATIONS)}); "
            "upgrade with: pip install -U convergebench"
        )
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.executescript(f"begin;{script}pragma user_version = {number};commit;")
