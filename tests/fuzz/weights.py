"""Weight files and the packages they come in.

MATLAB files are left out: scipy's reader crashes on damaged ones, so they are read only after their checksum has been
verified (`tests/security/test_weight_files.py`).
"""

from __future__ import annotations

import io
import json
import pickle
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from convergebench.metrics.no_reference.brisque import read_machine
from convergebench.tfjs.graph import read_graph
from convergebench.vision.onnx_size import with_input_size
from convergebench.weights import npm, pip_index
from convergebench.weights.archive import unpack
from convergebench.weights.loading import arrays, numpy_pickle, safetensors_state, torch_state
from tests.fuzz.target import FuzzTarget, as_folder, of_file
from tests.tfjs.tiny import TinyModel
from tests.vision.test_onnx_size import network

ARRAYS: dict[str, Any] = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.zeros(3, np.int64)}
INDEX = (
    b'<a href="../x/demo-1.0-py3-none-any.whl#sha256=00">demo-1.0-py3-none-any.whl</a><a href="demo-1.0.tar.gz">d</a>'
)
NPM = {
    "versions": {"1.0.0": {"dist": {"tarball": "http://127.0.0.1:9/a.tgz", "integrity": "sha512-AAAA", "shasum": "00"}}}
}
MACHINE = """svm_type epsilon_svr
kernel_type rbf
gamma 0.05
total_sv 2
rho -153.0
SV
1 1:0.5 36:1
-2 2:0.1
"""


def _saved(save: Callable[[Any], None]) -> bytes:
    data = io.BytesIO()
    save(data)
    return data.getvalue()


def _torch(data: Any) -> None:
    import torch

    torch.save({name: torch.from_numpy(one) for name, one in ARRAYS.items()}, data)


def _safetensors() -> bytes:
    from safetensors.numpy import save

    return save(ARRAYS)


@cache
def _zipped() -> bytes:
    return _saved(lambda data: _archive(zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED)))


def _archive(archive: zipfile.ZipFile) -> None:
    with archive:
        archive.writestr("demo/weights.bin", b"w" * 200)
        archive.writestr("demo/__init__.py", b"")


def _tarred(mode: Any, data: Any) -> None:
    with tarfile.open(fileobj=data, mode=mode, format=tarfile.GNU_FORMAT) as archive:
        for name in ("demo-1.0/demo/weights.bin", f"demo-1.0/{'long/' * 40}x"):
            entry = tarfile.TarInfo(name)
            entry.size = 200
            archive.addfile(entry, io.BytesIO(b"w" * 200))


def _unpack(data: bytes) -> None:
    with as_folder({"archive": data}) as folder:
        found = unpack(folder / "archive", "demo", {"demo/weights.bin": 200, "demo/other.bin": 0}, folder)
        assert all(path.parent == folder for path in found.values())


@cache
def _graph() -> dict[str, bytes]:
    model = TinyModel()
    kept = model.constant(np.ones((2, 2), np.float32))
    out = model.node("Add", "picture", kept)
    with tempfile.TemporaryDirectory() as name:
        model.write(Path(name), out)
        return {path.name: path.read_bytes() for path in Path(name).iterdir()}


def _read_graph(data: bytes) -> None:
    with as_folder({**_graph(), "model.json": data}) as folder:
        read_graph(folder).order()


def _page(read: Callable[[], object], module: Any, data: bytes) -> None:
    """As if an index had answered with this page."""
    before = {name: getattr(module, name) for name in ("read_page", "index_addresses") if hasattr(module, name)}
    module.read_page = lambda *_: ("http://127.0.0.1:9/", data.decode("utf-8", "replace"))
    module.index_addresses = lambda: ["http://127.0.0.1:9/simple"]
    try:
        read()
    finally:
        for name, own in before.items():
            setattr(module, name, own)


TARGETS = {
    "pickle": FuzzTarget(of_file(numpy_pickle, ".pkl"), lambda: (pickle.dumps(ARRAYS), pickle.dumps([print, ARRAYS]))),
    "npz": FuzzTarget(of_file(arrays, ".npz"), lambda: (_saved(lambda data: np.savez(data, **ARRAYS)),)),
    "safetensors": FuzzTarget(of_file(safetensors_state, ".safetensors"), lambda: (_safetensors(),)),
    "torch": FuzzTarget(of_file(torch_state, ".pt"), lambda: (_saved(_torch),)),
    "svm": FuzzTarget(of_file(read_machine, ".model"), lambda: (MACHINE.encode(),)),
    "package": FuzzTarget(
        _unpack, lambda: (_zipped(), *(_saved(partial(_tarred, f"w:{kind}")) for kind in ("", "gz", "xz")))
    ),
    "tfjs": FuzzTarget(_read_graph, lambda: (_graph()["model.json"],)),
    "onnx-size": FuzzTarget(lambda data: with_input_size(data, 16), lambda: (network(8),)),
    "npm-page": FuzzTarget(
        partial(_page, lambda: npm.find_release("demo", "1.0.0", {}), npm), lambda: (json.dumps(NPM).encode(),)
    ),
    "pip-page": FuzzTarget(partial(_page, lambda: pip_index.release_files("demo", "1.0"), pip_index), lambda: (INDEX,)),
}
