"""`cbench list editors`: every editor with what it takes, what it costs, and what it lacks here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convergebench.editors.models.table import Model
    from convergebench.types import Capabilities, Editor


def editor_rows() -> list[dict[str, Any]]:
    """One row per name: built-ins and plug-ins, then the models of the table that are behind a provider."""
    from convergebench.editors.models.table import find_model, models
    from convergebench.registry import names

    rows = [_row(name, find_model(name)) for name in names("editors")]
    known = set(names("editors"))
    return rows + [_row(model.id, model) for model in models().values() if model.id not in known]


def _row(name: str, model: Model | None) -> dict[str, Any]:
    from convergebench.editors.base import lacks
    from convergebench.editors.find import make_editor
    from convergebench.errors import ConvergeBenchError, StudyError

    editor: Editor | None = None
    missing: list[str] = []
    try:
        editor = make_editor(name)
        missing = lacks(editor)
    except StudyError as error:  # it needs options, such as a folder or an editor to be made of; or it is broken
        missing = [] if error.__cause__ is None or isinstance(error.__cause__, TypeError) else [str(error)]
    except ConvergeBenchError as error:  # a plug-in that cannot load is listed with its reason
        missing = [str(error)]
    able = editor.capabilities if editor else None
    return {
        "editor": name,
        "by": _by(name, model),
        "here": "no" if missing else "yes" if editor else "with options",
        "dollars": _dollars(able),
        "takes": _takes(able),
        "what it does": model.about if model else _summary(name),
        "lacks": missing,
        **_facts(model),
    }


def _by(name: str, model: Model | None) -> str:
    from convergebench.editors._table import TABLE

    if model is not None:
        return model.provider
    return "embedded" if name in TABLE else "plug-in"


def _summary(name: str) -> str:
    from convergebench.errors import ConvergeBenchError
    from convergebench.registry import load

    try:
        text = (load("editors", name).__doc__ or "").strip().partition("\n")[0]
    except ConvergeBenchError as error:
        return f"cannot be loaded: {error}"
    return str(text).removeprefix(f"`{name}`: ")


def _dollars(able: Capabilities | None) -> str:
    if able is None:
        return ""
    if able.dollars_per_call is None:
        return "unknown"
    prices = sorted({able.dollars_per_call, *able.dollars_by_resolution.values()})
    return " … ".join(f"{price:g}" for price in dict.fromkeys((prices[0], prices[-1])))


def _takes(able: Capabilities | None) -> str:
    if able is None:
        return ""
    words = [word for word in ("seed", "temperature", "sessions", "reasoning") if getattr(able, word)]
    words += ["aspect"] if able.aspects else []
    return " ".join([*words, *able.resolutions]) if able.instructed else "no instruction"


def _facts(model: Model | None) -> dict[str, Any]:
    """What only the table of models knows; empty for others."""
    if model is None:
        return {"aliases": [], "licence": "", "price read": "", "retires": "", "successor": "", "notes": ""}
    return {
        "aliases": list(model.aliases),
        "licence": model.licence,
        "price read": model.price.read if model.price else "",
        "retires": model.retires or "",
        "successor": model.successor,
        "notes": model.notes,
    }


def editors_as_text(rows: list[dict[str, Any]]) -> str:
    """The table, then what is missing, said once for all that lack the same."""
    from convergebench.cli.display import rows_as_text

    columns = ("editor", "by", "here", "dollars", "takes", "what it does")
    alive = [row for row in rows if not _ended(row)]
    text = rows_as_text([{column: row[column] for column in columns} for row in alive])
    return "\n".join([text, *_missing(alive), *_endings(rows)])


def _ended(row: dict[str, Any]) -> bool:
    return any("was shut down" in lack for lack in row["lacks"])


def _missing(rows: list[dict[str, Any]]) -> Iterator[str]:
    who: dict[str, list[str]] = {}
    for row in rows:
        for lack in row["lacks"]:
            who.setdefault(lack, []).append(row["editor"])
    if who:
        yield "\nbefore they can run here:"
    for lack, names in who.items():
        yield f"  {', '.join(names)}\n    {lack}"


def _endings(rows: list[dict[str, Any]]) -> Iterator[str]:
    ended = [row for row in rows if _ended(row)]
    ending = [row for row in rows if row["retires"] and not _ended(row)]
    if ended:
        yield "\nno longer to be had:"
        yield from (f"  {row['editor']} ended on {row['retires']}; use {row['successor']}" for row in ended)
    if ending:
        yield "\nwill end:"
        yield from (f"  {row['editor']} on {row['retires']}; then {row['successor']}" for row in ending)
