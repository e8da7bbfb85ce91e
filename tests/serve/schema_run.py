"""Sends generated requests to an app in this process and checks every reply against its description."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok
from starlette.testclient import TestClient

from tests.serve.openapi import Operation

CHECKS = [
    *(not_a_server_error, status_code_conformance, content_type_conformance),
    *(response_headers_conformance, response_schema_conformance),
]
PARTS = ("method", "url", "headers", "params", "data", "json", "files")
Look = Callable[[Any, Any], None]


def only(document: Mapping[str, Any], one: Operation) -> Any:
    """One operation of a description."""
    own = {**document, "paths": {one.path: {one.method: document["paths"][one.path][one.method]}}}
    (found,) = schemathesis.openapi.from_dict(own).get_all_operations()
    assert isinstance(found, Ok), found
    return found.ok()


def send_generated(
    operation: Any, client: TestClient, look: Look, *, examples: int, headers: Mapping[str, str] | None = None
) -> int:
    """So many valid and as many invalid requests of one operation; `look` sees each reply. The number sent."""
    sent = 0

    def once(case: Any) -> None:
        nonlocal sent
        sent += 1
        words = case.as_transport_kwargs(base_url=str(client.base_url), headers=dict(headers or {}))
        wire = requests.Request(**{name: words.get(name) for name in PARTS}).prepare()
        reply = client.request(
            wire.method or "",
            wire.url or "",
            headers={name: str(value) for name, value in wire.headers.items()},
            content=wire.body,  # type: ignore[arg-type]
        )
        case.validate_response(reply, checks=CHECKS)
        look(case, reply)

    taken = list(operation.iter_parameters()) or operation.body
    for mode in (GenerationMode.POSITIVE, *((GenerationMode.NEGATIVE,) if taken else ())):
        strategy = operation.as_strategy(generation_mode=mode)
        test = settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )(given(case=strategy)(once))
        test()
    return sent
