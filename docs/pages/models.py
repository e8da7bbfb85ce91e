"""`docs/reference/models.md`: the table of models, and the options of every provider's editors."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from convergebench.editors.find import LOCAL
from convergebench.editors.models.table import LAST_CHECKED, ModelEntry, models
from convergebench.editors.providers.remote import RemoteOptions
from convergebench.editors.providers.table import PROVIDERS, provider_class
from docs.pages.markdown import cell, code, first_line, table
from docs.pages.study_file import attribute_docs, kind_of

HEAD = """# Models

Every model the package knows, as data: `cbench list editors` shows the same with what is ready on your machine, and
`--json` with every field. Any other model of a provider is named with the provider before it
(`fal:owner/model/edit`); nothing is assumed about it, including its price. How keys, sessions and servers of your
own work: [providers](../providers.md).

Prices are dollars per edit, as read on the given day, without reasoning tokens; if a reply
states its tokens, they are used.
*Takes*: settings of a study file that it supports; any other setting is an error before the first call. A seed that is
`exact` gives the same bytes again on the same machine; `best effort` is what its provider says of it.
"""


def page() -> str:
    """One table per provider, then what has ended, then options."""
    # as of the day of the table: a page that is made again later must not differ by itself
    living = [model for model in models().values() if not model.ended(LAST_CHECKED)]
    ending = [model for model in models().values() if model.retires]
    parts = [HEAD]
    for provider in (LOCAL, *PROVIDERS):
        rows = [_row(model) for model in living if model.provider == provider]
        if rows:
            title = "On your own machine" if provider == LOCAL else f"`{provider}`"
            parts.append(
                f"## {title}\n\n" + table(["model", "nicknames", "what it is", "takes", "dollars", "notes"], rows)
            )
    ends = table(
        ["model", "ends", "use instead"],
        (
            [code(one.id), str(one.retires), code(one.successor)]
            for one in sorted(ending, key=lambda one: one.retires or "")
        ),
    )
    parts.append(f"## With an end\n\n{ends}")
    parts.append("## Options\n\nFor every editor behind a provider or a server:\n\n" + _options(RemoteOptions, None))
    for provider in PROVIDERS:
        kind = provider_class(provider)
        own = _options(kind.Options, RemoteOptions)
        if own:
            parts.append(f"### `{provider}`\n\n{first_line(kind.__doc__)} {_key(kind)}\n\n{own}")
    return "\n".join(parts)


def _row(model: ModelEntry) -> list[str]:
    takes = [f"seed ({model.seed})"] if model.seed != "none" else []
    takes += [word for word in ("temperature", "sessions", "reasoning") if getattr(model, word)]
    takes += ["aspect"] if model.aspects else []
    takes += list(model.resolutions)
    return [
        code(model.id),
        ", ".join(model.aliases),
        cell(f"{model.about}. {model.licence}"),
        ", ".join(takes),
        _price(model),
        model.notes,
    ]


def _price(model: ModelEntry) -> str:
    price = model.price
    if price is None or (price.call is None and not price.resolutions):
        return "unknown" if price is None else f"by tokens ({price.read})"
    by_size = [f"{name} {dollars:g}" for name, dollars in price.resolutions.items()]
    return f"{', '.join(by_size) or f'{price.call:g}'} ({price.read})"


def _key(kind: Any) -> str:
    return f"Key: {' or '.join(code(name) for name in kind.keys)}." if kind.keys else "Needs no key."


def _options(kind: type[RemoteOptions], base: type[RemoteOptions] | None) -> str:
    rows = list(_rows(kind, base))
    return table(["option", "type", "default", "what it does"], rows) if rows else ""


def _rows(kind: type[RemoteOptions], base: type[RemoteOptions] | None) -> Iterator[list[str]]:
    schema = kind.model_json_schema()
    said: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if issubclass(one, RemoteOptions):
            docs = attribute_docs(sys.modules[one.__module__])
            said |= {key: text for (owner, key), text in docs.items() if owner == one.__name__}
    for name, facts in schema["properties"].items():
        if base is None or name not in base.model_fields:
            value = facts.get("default")
            default = "not set" if value in (None, "") else code(value)
            yield [code(name), kind_of(facts, schema), default, inspect.cleandoc(said.get(name, ""))]
