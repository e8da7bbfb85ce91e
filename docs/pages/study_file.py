"""`docs/reference/study-file.md`: every key, from the models that check it."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from convergebench.documents import table_fields
from convergebench.registry import load, names
from convergebench.studies import analysis_settings, audit, replicate, roundtrip, session, spec, until_table
from convergebench.studies.spec import StudySpec
from docs.pages.markdown import code, table

HEAD = """# The study file

A TOML file that defines the experiment; circumstances (where to write, how much may be spent) are flags of
[`cbench run`](commands.md). Every key has a default, and an unknown key is an error with a suggestion. Which changes of
a file an existing run accepts: [growth or changed meaning](../design/growth-or-changed-meaning.md).
"""

SAID: Mapping[str, str] = {
    "study": "Which protocol.",
    "title": "A heading for the report.",
    "track.with": "`tensorboard`, `mlflow` or `wandb`; empty: none. Flag: `--track`.",
    "editors": "Names, or tables with `name`, `use`, the editor's own options, and `settings` for it alone. Flag: "
    "`--editor`.",
    "images.kinds": "Only images of these kinds.",
    "settings.temperature": "Sent to editors that take one; refused for others before the first call.",
    "measure.metrics": "Metrics or sets of them. Flag: `--metric`.",
}
"""Keys whose models say nothing themselves."""


MODULES = (spec, analysis_settings, until_table, roundtrip, replicate, audit, session)
BUILT_IN = [name for name in names("studies") if name in ("roundtrip", "replicate", "audit", "session")]
"""Plug-ins that happen to be installed are not part of the reference."""
_PARENTS = {audit.AuditStudyTable.__name__: (replicate.ReplicateTable.__name__,)}
"""Tables that take keys over from others, where those say what the keys are for."""


def page() -> str:
    """One table per TOML table."""
    schema = StudySpec.model_json_schema()
    parts = [HEAD, "## At the top\n"]
    top = [name for name in StudySpec.model_fields if _table_model(name) is None]
    parts.append(_keys(top, schema["properties"], "", ""))
    for name in StudySpec.model_fields:
        model = _table_model(name)
        if model is not None:
            inner = schema["$defs"][model.__name__]["properties"]
            parts += [f"## [{name}]\n", f"{inspect.getdoc(model)}\n", _keys(list(inner), inner, name, model.__name__)]
            for key, facts in inner.items():
                table_name = facts.get("$ref", "").rpartition("/")[2]
                if table_name:
                    keys = schema["$defs"][table_name]["properties"]
                    said = f"{schema['$defs'][table_name]['description']}\n"
                    whole = f"{name}.{key}"
                    parts += [f"### [{whole}]\n", said, _keys(list(keys), keys, whole, table_name)]
    for name in BUILT_IN:
        model = load("studies", name).Parameters
        whole = model.model_json_schema()
        inner = whole["properties"]
        title = f'## [{name}], for `study = "{name}"`\n'
        parts += [title, f"{inspect.getdoc(model)}\n", _keys(list(inner), inner, name, model.__name__)]
        for key, facts in inner.items():
            row = facts.get("items", {}).get("$ref", "").rpartition("/")[2]
            if row:
                keys = whole["$defs"][row]["properties"]
                said = f"{whole['$defs'][row]['description']}\n"
                parts += [f"### [[{name}.{key}]]\n", said, _keys(list(keys), keys, f"{name}.{key}", row)]
    return "\n".join(parts)


def explanation(table_name: str, key: str, model: str) -> str:
    """What a key is for: its own docstring, or the words above."""
    named = [model, *_PARENTS.get(model, ())]
    own = next((docs[one, key] for one in named for docs in map(attribute_docs, MODULES) if (one, key) in docs), None)
    return own or SAID.get(f"{table_name}.{key}" if table_name else key) or ""


def _table_model(name: str) -> type | None:
    kind = StudySpec.model_fields[name].annotation
    return kind if isinstance(kind, type) and table_fields(kind) else None


def _keys(keys: list[str], schema: Mapping[str, Any], table_name: str, model: str) -> str:
    rows = []
    for key in keys:
        facts = schema[key]
        rows.append([code(key), _type(facts), _default(facts), explanation(table_name, key, model or "StudySpec")])
    return table(["key", "type", "default", "what it does"], rows)


def _default(facts: Mapping[str, Any]) -> str:
    if facts.get("type") == "object" or "$ref" in facts:
        return code("{}")
    value = facts.get("default")
    return "not set" if value is None else code(json.dumps(value))


def kind_of(facts: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The type of an option in words; what is defined elsewhere in the schema is looked up."""
    if "$ref" in facts:
        return kind_of(schema["$defs"][facts["$ref"].rpartition("/")[2]], schema)
    return _type(facts)


def _type(facts: Mapping[str, Any]) -> str:
    if "$ref" in facts:
        return "table"
    if "enum" in facts:
        return " or ".join(code(json.dumps(word)) for word in facts["enum"])
    if "const" in facts:
        return code(json.dumps(facts["const"]))
    if "anyOf" in facts:
        kinds = [_type(one) for one in facts["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "prefixItems" in facts:
        return f"list of {len(facts['prefixItems'])}, {_type(facts['prefixItems'][0])}"
    if facts.get("type") == "array":
        items = facts["items"]
        return "list of names or tables" if "$ref" in items else f"list of {_type(items)}"
    words = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "true or false",
        "object": "table",
    }
    return words[facts["type"]] + _range(facts)


def _range(facts: Mapping[str, Any]) -> str:
    low, high = facts.get("minimum"), facts.get("maximum")
    if low is not None:
        return f", {low} to {high}" if high is not None else f", {low} or more"
    if "exclusiveMinimum" in facts:
        above = f", above {facts['exclusiveMinimum']}"
        if "exclusiveMaximum" in facts:
            return f"{above} and below {facts['exclusiveMaximum']}"
        return f"{above}, at most {high}" if high is not None else above
    return ""


def attribute_docs(module: ModuleType) -> dict[tuple[str, str], str]:
    """(class, attribute) → the string that follows the attribute in the source."""
    found = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for item, after in zip(node.body, node.body[1:], strict=False):
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if said and isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                assert isinstance(after, ast.Expr)
                assert isinstance(after.value, ast.Constant)
                found[node.name, item.target.id] = str(after.value.value)
    return found
