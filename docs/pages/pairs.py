"""`docs/reference/pairs.md`: the edit pairs and the sessions, in their own words."""

from __future__ import annotations

from convergebench.edits import load_pairs, load_sessions
from convergebench.types import EditPair
from docs.pages.markdown import code, table

HEAD = """# Edit pairs

Chosen under `[edits] pairs` by set (`v1`, `all`, `later`), by category, by id, or from a TOML file of your own. The
words below are each pair's first wording; `wordings = 3` in the study file runs three phrasings of each. A pair is
*preserving* when undoing it needs nothing that is not in the image or in the instruction, *destroying* when something
is lost, *hallucinating* when one of the legs has to invent detail. Only preserving pairs are in `v1` and `all`.

A pair that adds a thing names it (`adds = ["hat", "cap"]`) and is not used on images listed as showing one;
`needs` names what has to be there ([suites](suites.md)).
"""
SETS = {"v1": "the seven of the benchmark's plan", "all": "every fair pair", "later": "off unless asked for"}


def page() -> str:
    """One table a set, then the sessions."""
    parts = [HEAD]
    for name, what in SETS.items():
        pairs = load_pairs([name])
        if name == "v1":
            parts.append(f"## {name}: {what}\n\n{', '.join(code(pair.id) for pair in pairs)}\n")
            continue
        head = ["pair", "category", "class", "kinds", "forward", "backward", "wordings"]
        parts.append(f"## {name}: {what}\n\n{table(head, map(_row, pairs))}")
    sessions = ([code(one.id), one.title, " ".join(one.kinds), " → ".join(one.steps)] for one in load_sessions())
    parts.append(
        "## Sessions\n\nOne instruction after another, without undoing. They are run by a study of your own: "
        "[add a study](../add-a-study.md).\n\n" + table(["session", "title", "kinds", "steps"], sessions)
    )
    return "\n".join(parts)


def _row(pair: EditPair) -> list[object]:
    phrasings = len(load_pairs([pair.id], wordings=8))
    kinds = " ".join(pair.kinds)
    return [code(pair.id), pair.category, pair.reversibility, kinds, pair.forward, pair.backward, phrasings]
