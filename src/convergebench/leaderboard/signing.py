"""Ed25519 signatures: who made a bundle. A key shows that two bundles come from one holder, not who that is."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench.errors import Prerequisite, StudyError
from convergebench.leaderboard.layout import BUNDLE_FORMAT

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ALGORITHM = "ed25519"
_MOST_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Signed:
    """A valid signature."""

    public: str
    """The public key, in hexadecimal."""

    @property
    def key_id(self) -> str:
        """How the key is called on pages and in a maintainer's list of keys."""
        return key_id(self.public)


def key_id(public: str) -> str:
    """`k1:` and the first 16 digits of the public key's hash."""
    return "k1:" + hashlib.sha256(bytes.fromhex(public)).hexdigest()[:16]


def make_key(path: Path) -> str:
    """Write a new private key that only its owner may read; returns the id of its public key."""
    _require_package()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    data = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise StudyError(f"{path} exists; a key is never overwritten: name another file") from error
    except OSError as error:
        raise StudyError(f"cannot write {path}: {error.strerror or error}") from error
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return key_id(_public(key))


def read_key(path: Path) -> Ed25519PrivateKey:
    """The private key in a file; one that others may read is refused."""
    _require_package()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        mode = path.stat().st_mode
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError as error:
        raise StudyError(
            f"cannot read --key {path}: {error.strerror or error}; make a key with: cbench submit --new-key {path}"
        ) from error
    if os.name == "posix" and mode & 0o077:
        raise StudyError(f"--key {path} can be read by other users of this machine; type: chmod 600 {path}")
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None  # the reason may quote the file
    if not isinstance(key, Ed25519PrivateKey):
        raise StudyError(
            f"--key {path} is not an Ed25519 key without a password; make one: cbench submit --new-key FILE"
        )
    return key


def sign(key: Ed25519PrivateKey, head: str, checksums: bytes) -> dict[str, str]:
    """`signature.json`: over the head of the chain and the checksums of every member."""
    return {
        "algorithm": ALGORITHM,
        "public": _public(key),
        "signature": key.sign(_message(head, checksums)).hex(),
    }


def verify(document: Any, head: str, checksums: bytes) -> Signed:
    """The key that made this signature; `ValueError` says what is wrong with it."""
    _require_package()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not isinstance(document, dict) or set(document) != {"algorithm", "public", "signature"}:
        raise ValueError("should have algorithm, public and signature")
    if document["algorithm"] != ALGORITHM:
        raise ValueError(f"is not by {ALGORITHM}")
    try:
        public, signature = (bytes.fromhex(str(document[name])) for name in ("public", "signature"))
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _message(head, checksums))
    except InvalidSignature as error:
        raise ValueError("does not fit: the bundle was changed after it was signed") from error
    except ValueError as error:
        raise ValueError("is not a key and a signature in hexadecimal") from error
    return Signed(public.hex())


def _public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()


def _message(head: str, checksums: bytes) -> bytes:
    return f"convergebench bundle {BUNDLE_FORMAT}\n{head}\n{hashlib.sha256(checksums).hexdigest()}".encode()


def _require_package() -> None:
    from importlib.util import find_spec

    if find_spec("cryptography") is None:
        raise Prerequisite('signatures need the package cryptography; type: pip install "convergebench[submit]"')
