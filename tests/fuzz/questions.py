"""Replies of the models that roles ask: each protocol's reader, from the JSON of a reply to its answer."""

from __future__ import annotations

import json
from functools import cache, partial

from convergebench.errors import BadReply
from convergebench.roles.served import ServedRole
from convergebench.roles.tables import RoleTable
from convergebench.rubrics.rubric import load_rubric
from tests.fuzz.target import FuzzTarget
from tests.roles.clients.protocols import PROTOCOLS, Protocol

FORM = load_rubric("judge-two-edits").reply
VERDICT = json.dumps({"reason": "it is sharper", "better": 0.75})


@cache
def _role(api: str) -> ServedRole:
    table = {"kind": "served", "api": api, "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    return ServedRole("judge", RoleTable.model_validate(table))


def _read(api: str, data: bytes) -> None:
    """As `complete` does after a status of 200."""
    role = _role(api)
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadReply("not JSON") from error
    try:
        found = role._client.read(body, "raw")
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise BadReply("no message") from error
    role._answered(found, FORM)


def _seeds(protocol: Protocol) -> list[bytes]:
    good = [protocol.reply(VERDICT), protocol.reply(VERDICT, truncated=True), protocol.reply("no", usage=False)]
    declined = [reply for reply, _ in protocol.refusals()]
    return [
        *(json.dumps(one.body).encode() for one in (*good, *declined)),
        *(json.dumps(one).encode() for one in protocol.odd()),
    ]


TARGETS = {f"role-{one.api}": FuzzTarget(partial(_read, one.api), partial(_seeds, one)) for one in PROTOCOLS}
