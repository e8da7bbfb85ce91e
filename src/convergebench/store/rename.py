"""Giving an editor of a run another name, in every row and in the manifest.

A step's key has the editor's fingerprint and not its name, so no picture and no step changes. The manifest first knows
both names, then the rows change in one transaction, then the manifest forgets the old name: a run that is killed in
between is whole under either name, and the same command goes on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from convergebench.errors import StudyError
from convergebench.ids import comparison_id, content_hash
from convergebench.store.manifest import Manifest
from convergebench.store.rating_book import FOLDER as BOOKS
from convergebench.store.run import Run

NAMED = ("chains", "steps", "chain_steps", "attempts", "answers", "probes", "decisions")
"""Tables whose rows name the editor and whose keys do not hold a hash of the name."""
HASHED = ("labels", "ratings")
"""Tables whose ids are hashes of the name and of more than the row tells."""


def rename_editor(run: Run, old: str, new: str, session: Mapping[str, Any]) -> int:
    """Rename; returns the number of its chains. `session` is the entry for the manifest."""
    manifest = run.manifest
    again = old in manifest.editors and new in manifest.editors and _renaming(manifest) == {old: new}
    if not again:
        _require_possible(run, manifest, old, new)
        both = {**manifest.editors, new: manifest.editors[old]}
        manifest = replace(manifest, editors=both, sessions=[*manifest.sessions, {**session, "renaming": {old: new}}])
        run.write(manifest)
    chains = run.journal.rewrite(lambda connection: _rewrite(connection, old, new))
    run.write(_renamed(manifest, old, new))
    return chains


def renamed_editors(manifest: Manifest) -> dict[str, str]:
    """Names that editors of this run once had → the names that they have now."""
    found: dict[str, str] = {}
    for session in manifest.sessions:
        for old, new in session.get("renamed", {}).items():
            found = {name: new if now == old else now for name, now in found.items()} | {old: new}
    return {old: new for old, new in found.items() if old not in manifest.editors}


def _renaming(manifest: Manifest) -> dict[str, str]:
    last = manifest.sessions[-1] if manifest.sessions else {}
    found: dict[str, str] = last.get("renaming", {})
    return found


def _require_possible(run: Run, manifest: Manifest, old: str, new: str) -> None:
    taken = {row.editor for row in run.journal.chains().values()} | manifest.editors.keys()
    if new in taken:
        raise StudyError(f"{run.root} has an editor '{new}' already; choose another name")
    if manifest.editors[old].get("simulated") and not new.startswith("sim-"):
        raise StudyError(f"'{old}' is a simulated editor, whose name starts with 'sim-'; call it 'sim-{new}'")
    if any((run.root / BOOKS).glob("*.sqlite")):
        raise StudyError(
            f"people rate {run.root}, and what they were shown names '{old}'; rename editors before a rating begins"
        )


def _rewrite(connection: sqlite3.Connection, old: str, new: str) -> int:
    for table in (*NAMED, *HASHED):
        if table in HASHED:
            connection.create_function("rekeyed", 1, lambda key: _rekeyed(str(key), new), deterministic=True)
            connection.execute(f"update {table} set id = rekeyed(id) where editor = ?", (old,))
        connection.execute(f"update {table} set editor = ? where editor = ?", (new, old))
    for before, after in list(_comparison_keys(connection, old, new)):
        connection.execute("update comparisons set id = ?, editor = ? where id = ?", (after, new, before))
        connection.execute("update measurements set comparison = ? where comparison = ?", (after, before))
    (chains,) = connection.execute("select count(*) from chains where editor = ?", (new,)).fetchone()
    return int(chains)


def _comparison_keys(connection: sqlite3.Connection, old: str, new: str) -> Iterator[tuple[str, str]]:
    """(key, key under the new name) of the editor's comparisons; its steps have the new name already.

    A key has the steps that are compared and the row has their pictures, so the steps are found by trying those of the
    chain that have these pictures. A key that is none of these gets another one, and is measured anew if asked for.
    """
    states = _states(connection, new)
    query = """select id, "case", subject, reference, role, lag, step, round from comparisons where editor = ?"""
    for key, case, subject, reference, role, lag, step, number in connection.execute(query, (old,)).fetchall():
        chain = states.get(case, {})
        known = {"case": case, "role": role, "lag": lag}
        subjects = sorted(chain.get(subject, {}).items(), key=lambda one: one[1] != step)
        ones = [*(name for name, _ in subjects), subject, f"{subject}:{step}", f"{subject}:{number}"]
        others = [*chain.get(reference, {}), reference]
        tries = ((one, other) for one in ones for other in others)
        found = next(
            ((one, other) for one, other in tries
             if comparison_id(editor=old, subject=one, reference=other, **known) == key),
            None,
        )  # fmt: skip
        yield (
            key,
            comparison_id(editor=new, subject=found[0], reference=found[1], **known) if found else _rekeyed(key, new),
        )


def _states(connection: sqlite3.Connection, editor: str) -> dict[str, dict[str | None, dict[str, int]]]:
    """Case → picture → the states that show it, with their place in the chain (0: the source)."""
    found: dict[str, dict[str | None, dict[str, int]]] = {}
    query = """select c."case", c.position, s.id, s.image, s.parent, k.image from chain_steps c
               join steps s on s.id = c.step join cases k on k.id = c."case" where c.editor = ?"""
    for case, position, step, image, parent, source in connection.execute(query, (editor,)):
        found.setdefault(case, {}).setdefault(image, {})[step] = position
        if position == 1:
            found[case].setdefault(source, {})[parent] = 0
    return found


def _rekeyed(key: str, new: str) -> str:
    """A new key for a row whose old one is a hash of the old name: that name may be used again."""
    tag, _, _ = key.partition(":")
    return f"{tag}:{content_hash([key, 'renamed', new]).removeprefix('d1:')}"


def _renamed(manifest: Manifest, old: str, new: str) -> Manifest:
    facts = {**manifest.editors[old], "use": manifest.editors[old].get("use") or old}
    editors = {(new if name == old else name): (facts if name == old else one)
               for name, one in manifest.editors.items() if name != new}  # fmt: skip
    recordings = {
        f"{new}/{name.removeprefix(f'{old}/')}" if name.startswith(f"{old}/") else name: content
        for name, content in manifest.recordings.items()
    }
    *before, last = manifest.sessions
    done = {key: value for key, value in last.items() if key != "renaming"} | {"renamed": {old: new}}
    return replace(
        manifest, editors=editors, recordings=recordings, spec=_spec(manifest.spec, old, new), sessions=[*before, done]
    )


def _spec(spec: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    changed = dict(spec)
    if "editors" in spec:
        changed["editors"] = [
            {**one, "name": new, "use": one.get("use") or old} if one["name"] == old else one for one in spec["editors"]
        ]
    floors = spec.get("analysis", {}).get("floors")
    if floors and old in floors:
        changed["analysis"] = {**spec["analysis"], "floors": [new if name == old else name for name in floors]}
    return changed
