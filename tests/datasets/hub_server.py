"""A small Hugging Face Hub on this machine: repositories, uploads by git-lfs, commits; and ways for it to fail."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.editors.providers.loopback import Answer, Loopback, Request

TOKEN = "hf_" + "abcdefghijklmnopqrstuvwxyz012345"


@dataclass
class HubServer:
    """What it holds, and what it will answer next in place of the truth."""

    private: dict[str, bool] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    stored: dict[str, bytes] = field(default_factory=dict)
    """Contents by hash, of large files."""
    uploads: int = 0
    failing: dict[str, list[Answer]] = field(default_factory=dict)
    """Part of a path → what to answer to the next requests there."""

    def answer(self, asked: Request, server: Loopback) -> Answer:
        for part, answers in self.failing.items():
            if part in asked.path and answers:
                return answers.pop(0)
        route = urlsplit(asked.path).path
        if not route.startswith("/store/") and asked.headers.get("authorization") != f"Bearer {TOKEN}":
            said = f"Invalid token {asked.headers.get('authorization')}"  # servers repeat what they were sent
            return Answer(401, {"error": said}, {"X-Error-Message": said})
        if route == "/api/repos/create":
            name = f"{asked.json.get('organization') or 'me'}/{asked.json['name']}"
            if name in self.private:
                return Answer(409, {"url": f"{server.address}/datasets/{name}"})
            self.private[name] = self._is_private(asked)
            return Answer(200, {"url": f"{server.address}/datasets/{name}", "id": name})
        if route == "/api/validate-yaml":  # the card's front matter
            return Answer(200, {"errors": [], "warnings": []})
        if route.startswith("/store/"):
            digest = route.rpartition("/")[2]
            assert hashlib.sha256(asked.body).hexdigest() == digest
            self.stored[digest] = asked.body
            self.uploads += 1
            return Answer(200)
        if "/preupload/" in route:
            modes = [
                {"path": one["path"], "shouldIgnore": False, "uploadMode": self._mode(one["path"])}
                for one in asked.json["files"]
            ]
            return Answer(200, {"files": modes})
        if route.endswith("/info/lfs/objects/batch"):
            return Answer(200, self._batch(asked, server), {"Content-Type": "application/vnd.git-lfs+json"})
        if "/commit/" in route:
            return self._commit(asked, server)
        if route.startswith("/api/datasets/"):
            name = "/".join(route.split("/")[3:5])
            if name not in self.private:
                return Answer(404, {"error": "no"}, {"X-Error-Code": "RepoNotFound"})
            facts = {"id": name, "private": self.private[name], "sha": "0" * 40, "siblings": [], "tags": []}
            return Answer(200, facts)
        return Answer(404, {"error": route})

    @staticmethod
    def _is_private(asked: Request) -> bool:
        given = asked.json
        return bool(given.get("private") or given.get("visibility") == "private")

    @staticmethod
    def _mode(path: str) -> str:
        return "lfs" if path.endswith(".parquet") else "regular"

    def _batch(self, asked: Request, server: Loopback) -> dict[str, object]:
        objects = []
        for one in asked.json["objects"]:
            found = {"oid": one["oid"], "size": one["size"]}
            if one["oid"] not in self.stored:
                found["actions"] = {"upload": {"href": f"{server.address}/store/{one['oid']}", "header": {}}}
            objects.append(found)
        return {"transfer": "basic", "objects": objects}

    def _commit(self, asked: Request, server: Loopback) -> Answer:
        for line in asked.body.decode().splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                self.files[value["path"]] = self.stored[value["oid"]]
        return Answer(200, {"commitUrl": f"{server.address}/c/1", "commitOid": "1" * 40, "hookOutput": ""})
