"""The two web apps as OpenAPI: every address, what it takes, and each status it may answer with.

`require_same_routes` fails where the description and an app differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.routing import Route

JSON, HTML, TEXT, WEBP, PNG = "application/json", "text/html", "text/plain", "image/webp", "image/png"
ANY = ("image/png", "image/jpeg", "image/webp", "application/octet-stream")
FILES = ("text/javascript", "text/css", "image/svg+xml", "image/png")
REFUSED = {"type": "object", "properties": {"error": {"type": "string", "minLength": 1}}, "required": ["error"]}
SECURE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}
"""On every reply of both apps, whatever the apps themselves hold for right."""
ALWAYS = (400, 404, 405, 414, 421, 429)
"""Refusals that any address may answer with: what the middleware and the router say."""


class Operation(NamedTuple):
    """One address under one method."""

    method: str
    path: str
    good: Mapping[int, Sequence[str]]
    """Status → content types; none for an empty body."""
    refusals: Sequence[int] = ()
    query: Mapping[str, Any] = {}
    body: Mapping[str, Any] | None = None


KEPT = {200: (JSON,), 304: ()}
TEXTS = {"type": "string", "maxLength": 60}


def words(*known: str) -> dict[str, Any]:
    """One of these; invalid requests hold anything else."""
    return {"type": "string", "enum": list(known)}


PAGED = {
    "sort": words("editor", "-case", "psnr,case", "step"),
    "where": {
        "type": "array",
        "maxItems": 3,
        "items": words("editor:is:sim-jpeg", "psnr:above:20", "psnr:below:x", "case:has:pic"),
    },
    "find": TEXTS,
    "offset": {"type": "integer"},
    "limit": {"type": "integer"},
}
_FORM = {
    "type": "object",
    "properties": {
        "picture": {"type": "string", "format": "binary", "maxLength": 200},
        "editor": words("sim-jpeg", "no-such"),
        "pair": words("flip-horizontal", ""),
        "rounds": words("1", "0", "99999", "²"),
    },
    "required": ["picture", "editor", "pair", "rounds"],
}
RUN = "/api/runs/{run}"
VIEW = (
    *(
        Operation("get", path, {200: (HTML,)})
        for path in ("/", "/try", "/run/{run}", "/run/{run}/{tab}", "/run/{run}/chain/{chain}")
    ),
    Operation("get", "/favicon.ico", {204: ()}),
    Operation("get", "/static/{name}", {200: FILES, 304: ()}),
    Operation("get", "/report/{run}/{word}/{path}", {200: (HTML, *FILES)}),
    Operation("get", "/api/runs", KEPT),
    Operation("get", RUN, KEPT, (422,)),
    Operation("get", f"{RUN}/live", KEPT, (422,), {"since": TEXTS}),
    Operation("get", f"{RUN}/chains", KEPT, (422,), PAGED),
    Operation("get", f"{RUN}/images", KEPT, (422,), PAGED),
    Operation("get", f"{RUN}/curves", KEPT, (422,), {"metric": words("psnr", "ssim", "no-such")}),
    Operation("get", f"{RUN}/chains/{{chain}}", KEPT, (422,)),
    Operation("get", "/api/editors", KEPT),
    Operation("post", "/api/try", {201: (JSON,)}, (403, 408, 409, 413, 415, 422), {}, {"multipart/form-data": _FORM}),
    Operation("post", "/api/try/{run}/stop", {200: (JSON,)}, (403, 409, 422)),
    Operation("get", "/image/{run}/{image}", {200: ANY, 304: ()}, (403, 410)),
    Operation(
        "get", "/thumb/{run}/{image}", {200: (WEBP,), 304: ()}, (403, 410), {"size": {"enum": [96, 192, 384, 7]}}
    ),
    Operation("get", "/tile/{run}/{image}", KEPT),
    Operation("get", "/tile/{run}/{image}/{level}/{place}", {200: (WEBP,), 304: ()}, (403, 410)),
    Operation(
        "get",
        "/map/{run}/{image}/{other}/{file}",
        {200: (PNG, JSON), 304: ()},
        (403, 410, 413, 422),
        {"gain": {"type": "integer"}},
    ),
    Operation("get", "/worn/{run}/{worn}", {200: (PNG, JSON), 304: ()}, (403, 410, 413, 422)),
)
_ANSWER = {
    "type": "object",
    "properties": {
        "item": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
        "values": {
            "type": "object",
            "propertyNames": {"enum": ["score", "overall", "=1+1"]},
            "additionalProperties": {"type": ["number", "null"]},
            "minProperties": 1,
        },
        "seconds": {"type": "number"},
    },
    "required": ["item", "values", "seconds"],
    "additionalProperties": False,
}
RATING = (
    Operation("get", "/", {200: (HTML,)}),
    Operation("get", "/favicon.ico", {204: ()}),
    Operation("get", "/static/rating.css", {200: ("text/css",)}),
    Operation("get", "/static/rating.js", {200: ("text/javascript",)}),
    Operation("get", "/r/{token}", {200: (HTML,)}),
    Operation("get", "/r/{token}/items", {200: (JSON,)}, (401,)),
    Operation("get", "/r/{token}/picture/{picture}", {200: (PNG,)}, (401, 410)),
    Operation("post", "/r/{token}/answers", {200: (JSON,)}, (401, 403, 408, 413, 415, 422), {}, {JSON: _ANSWER}),
)


def description(
    title: str, operations: Iterable[Operation], headers: Iterable[str], known: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The OpenAPI document; `headers` are on every reply, `known` has real values of the parts of addresses."""
    paths: dict[str, dict[str, Any]] = {}
    every = {name: {"required": True, "schema": {"type": "string", "minLength": 1}} for name in headers}
    for one in operations:
        replies = {status: _reply({kind: {} for kind in kinds}, every) for status, kinds in one.good.items()}
        replies |= {status: _reply({JSON: REFUSED}, every) for status in (*ALWAYS, *one.refusals)}
        parts = [_part(name, known.get(name, ())) for name in re.findall(r"\{(\w+)\}", one.path)]
        asked = [{"name": name, "in": "query", "schema": schema} for name, schema in one.query.items()]
        found: dict[str, Any] = {
            "parameters": [*parts, *asked],
            "responses": {str(status): reply for status, reply in replies.items()},
        }
        if one.body is not None:
            content = {kind: {"schema": schema} for kind, schema in one.body.items()}
            found["requestBody"] = {"required": True, "content": content}
        paths.setdefault(one.path, {})[one.method] = found
    return {"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": paths}


def _reply(content: Mapping[str, Any], headers: Mapping[str, Any]) -> dict[str, Any]:
    found = {kind: {"schema": schema} if schema else {} for kind, schema in content.items()}
    return {"description": "a reply", "headers": dict(headers), **({"content": found} if found else {})}


def _part(name: str, known: Sequence[str]) -> dict[str, Any]:
    other: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 40}
    return {
        "name": name,
        "in": "path",
        "required": True,
        "schema": {"type": "string", "enum": list(known)} if known else other,
    }


def routes_of(app: Starlette) -> set[tuple[str, str]]:
    """(method, path) of an app, as OpenAPI writes them."""
    found = set()
    for route in app.routes:
        assert isinstance(route, Route), route
        path = re.sub(r":\w+\}", "}", route.path)
        found |= {(method.lower(), path) for method in route.methods or () if method != "HEAD"}
    return found


def require_same_routes(app: Starlette, operations: Iterable[Operation]) -> None:
    """Fail if an address is missing on either side."""
    assert routes_of(app) == {(one.method, one.path) for one in operations}


def require_secure(headers: Mapping[str, str]) -> None:
    """Fail without the headers that keep foreign code out."""
    for name, value in SECURE.items():
        assert headers[name] == value, name
    policy = headers["content-security-policy"]
    assert policy.startswith(("default-src 'none'; script-src 'self';", "sandbox allow-scripts")), policy
    assert "unsafe" not in policy
