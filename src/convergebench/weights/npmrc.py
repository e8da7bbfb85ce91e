"""The npm configuration: the registry of each scope, and its credentials.

npm need not be installed and is not run. Its settings are lines `key = value` in several files; the first source that
has a key wins: the environment, the project's file, the user's, the machine's.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from convergebench.errors import Prerequisite

DEFAULT = "https://registry.npmjs.org/"

_PREFIX = re.compile(r"^npm_config_", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{([^}?]+)(\??)\}")


def settings() -> dict[str, str]:
    """All settings, as npm would read them in the current folder."""
    found: dict[str, str] = {}
    environment = _from_environment()
    user = Path(environment.get("userconfig") or "~/.npmrc")
    for source in (environment, *(_from_file(path) for path in (_project_file(), user, _machine_file(environment)))):
        for key, value in source.items():
            found.setdefault(key, value)
    return found


def registry_of(package: str, config: Mapping[str, str]) -> str:
    """The address of the registry for this package: its scope's, or the default one."""
    scope = package.partition("/")[0] if package.startswith("@") else ""
    address = (config.get(f"{scope}:registry", "") if scope else "") or config.get("registry", "") or DEFAULT
    if not address.startswith(("http://", "https://")):
        raise Prerequisite("the npm registry configured here is not a web address; see `registry` in .npmrc")
    return address.rstrip("/") + "/"


def credentials(address: str, config: Mapping[str, str]) -> dict[str, str]:
    """The authorization header for this address, from the settings with the longest matching path."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    folders = parts.path.strip("/").split("/")
    for length in range(len(folders), -1, -1):
        base = "/".join([f"//{host}", *(one for one in folders[:length] if one), ""])
        for key, kind in (("_authToken", "Bearer"), ("_auth", "Basic")):
            if value := config.get(f"{base}:{key}") or config.get(f"{base.rstrip('/')}:{key}"):
                return {"Authorization": f"{kind} {value}"}
    return {}


def _from_environment() -> dict[str, str]:
    """Settings from `npm_config_…` variables in either case; an empty one counts as unset."""
    found = {}
    for name, value in os.environ.items():
        if value and _PREFIX.match(name):
            key = _PREFIX.sub("", name)
            # a scope or host is kept as it is; in other names an underscore, except a leading one, is a dash
            found[key if key.startswith(("@", "//")) else re.sub(r"(?<!^)_", "-", key.lower())] = value
    return found


def _from_file(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, RuntimeError):  # missing, unreadable, not text, or the home of an unknown user
        return {}
    return dict(_lines(text))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith((";", "#")):
            yield _expanded(key.strip()), _expanded(value.strip().strip("\"'"))


def _expanded(text: str) -> str:
    """With `${NAME}` from the environment; an unset name is kept as written, or empty as `${NAME?}`."""

    def value(match: re.Match[str]) -> str:
        return os.environ.get(match[1], "" if match[2] else match[0])

    return _VARIABLE.sub(value, text)


def _project_file() -> Path | None:
    """The `.npmrc` of the nearest parent folder that is an npm project, else of the current folder."""
    cwd = Path.cwd()
    for folder in (cwd, *cwd.parents):
        if (folder / "package.json").is_file() or (folder / "node_modules").is_dir():
            return folder / ".npmrc"
    return cwd / ".npmrc"


def _machine_file(environment: Mapping[str, str]) -> Path | None:
    if named := environment.get("globalconfig"):
        return Path(named)
    if prefix := environment.get("prefix") or os.environ.get("PREFIX"):
        return Path(prefix) / "etc" / "npmrc"
    node = shutil.which("node")
    return Path(node).resolve().parent.parent / "etc" / "npmrc" if node else None
