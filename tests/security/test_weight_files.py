"""No code path of the package reads a pickle that may run code, and no hostile weight file runs anything."""

from __future__ import annotations

import ast
import io
import json
import pickle
import shutil
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.editors.diffusers.checkpoints import missing
from convergebench.errors import ConvergeBenchError
from convergebench.weights.loading import arrays, numpy_pickle, safetensors_state, torch_state

SOURCE = Path(__file__).parents[2] / "src" / "convergebench"
LOADING = "weights/loading.py"
FORBIDDEN = {
    *("pickle.load", "pickle.loads", "cPickle.loads", "dill.load", "dill.loads", "cloudpickle.loads", "joblib.load"),
    *(
        "marshal.load",
        "marshal.loads",
        "shelve.open",
        "torch.jit.load",
        "torch.hub.load",
        "torch.package.PackageImporter",
    ),
    *("pandas.read_pickle", "pd.read_pickle", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "eval", "exec"),
    *("os.system", "os.popen", "tempfile.mktemp"),
}
"""Calls that run what they read, or a shell."""


@cache
def trees() -> dict[str, list[ast.AST]]:
    """File → its nodes."""
    return {
        path.relative_to(SOURCE).as_posix(): list(ast.walk(ast.parse(path.read_bytes())))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """(file, dotted name, call) of every call in the package."""
    for file, nodes in trees().items():
        for node in nodes:
            if isinstance(node, ast.Call):
                yield file, dotted(node.func), node


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name; the last part alone where it hangs on something else."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def option(call: ast.Call, name: str) -> object:
    """The constant that a call gives for a keyword; None if it gives none."""
    found = next((one.value for one in call.keywords if one.arg == name), None)
    return found.value if isinstance(found, ast.Constant) else None


def test_nothing_in_the_package_reads_what_may_run() -> None:
    for file, name, call in calls():
        assert name not in FORBIDDEN, f"{file}, line {call.lineno}: {name}"
        if name.endswith("torch.load"):
            assert option(call, "weights_only") is True, f"{file}, line {call.lineno}"
        if name in ("np.load", "numpy.load"):
            assert option(call, "allow_pickle") is False, f"{file}, line {call.lineno}"
        assert not name.endswith((".extractall", ".unpack_archive")), f"{file}, line {call.lineno}: {name}"
        assert option(call, "trust_remote_code") is not True, f"{file}, line {call.lineno}"
        assert option(call, "shell") is not True, f"{file}, line {call.lineno}"


def test_the_only_unpickler_names_what_it_accepts() -> None:
    users = {
        file
        for file, nodes in trees().items()
        for node in nodes
        if (isinstance(node, ast.Import) and any(one.name == "pickle" for one in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "pickle")
    }
    assert users == {LOADING}
    made = [name for file, name, _ in calls() if file == LOADING and "npickler" in name]
    assert made == []  # only the subclass with its own find_class


def test_matlab_files_of_ours_have_a_checksum() -> None:
    """scipy's reader crashes on damaged files, so it sees verified ones only."""
    readers = {file for file, name, _ in calls() if name == "matlab"}
    assert readers == {"metrics/no_reference/_ilniqe_features.py"}
    table = tomllib.loads((SOURCE / "weights" / "data" / "no_reference.toml").read_text(encoding="utf-8"))
    (template,) = (one for one in table["weight"] if one["name"] == "ilniqe-template")
    assert all(len(file["sha256"]) == 64 for file in template["files"])


class Harmful:
    """Leaves a mark wherever it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return exec, (f"import pathlib; pathlib.Path({str(self.mark)!r}).touch()",)


def _torch(content: Any, *, old: bool = False) -> bytes:
    import torch

    data = io.BytesIO()
    torch.save({"w": content}, data, _use_new_zipfile_serialization=not old)
    return data.getvalue()


def _npy(content: Any) -> bytes:
    data = io.BytesIO()
    np.save(data, np.array([content], dtype=object), allow_pickle=True)
    return data.getvalue()


def _npz(content: Any) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("w.npy", _npy(content))
    return data.getvalue()


def _onnx(content: Any) -> bytes:
    """A network whose node names an operator of a library that is not there, with a pickle among its bytes."""
    from tests.vision.test_onnx_size import network

    return (
        network(8).replace(b"MaxPool", b"HarmOps")
        + b"\x12"
        + bytes([len(pickle.dumps(content))])
        + pickle.dumps(content)
    )


MAKERS: dict[str, Callable[[Any], bytes]] = {
    "pickle": pickle.dumps,
    "protocol 0": lambda content: pickle.dumps(content, 0),
    "pt": _torch,
    "old pt": lambda content: _torch(content, old=True),
    "npy": _npy,
    "npz": _npz,
    "onnx": _onnx,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_no_reader_runs_what_is_in_a_hostile_file(kind: str, tmp_path: Path) -> None:
    mark, path = tmp_path / "harmed", tmp_path / "weights.bin"
    path.write_bytes(MAKERS[kind](Harmful(mark)))
    told = []
    for read in (numpy_pickle, torch_state, safetensors_state, arrays):
        try:
            read(path)
        except ConvergeBenchError as error:
            told.append(str(error))
    assert len(told) >= 3, "at most one reader finds nothing to read in it"
    assert not any("\n" in line for line in told)
    assert not mark.exists()


def test_the_hostile_file_would_act_elsewhere(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Harmful(tmp_path / "harmed")))
    assert (tmp_path / "harmed").exists()


def test_onnxruntime_runs_nothing_of_a_hostile_network(tmp_path: Path) -> None:
    onnxruntime: Any = pytest.importorskip("onnxruntime")
    mark = tmp_path / "harmed"
    with pytest.raises(Exception, match=r"(?i)harmops|fail|invalid|protobuf"):
        onnxruntime.InferenceSession(_onnx(Harmful(mark)), providers=["CPUExecutionProvider"])
    assert not mark.exists()


@pytest.mark.parametrize("way", ["a pickle for weights", "code of its own"])
def test_a_checkpoint_folder_of_diffusers_runs_nothing(way: str, tmp_path: Path) -> None:
    pytest.importorskip("diffusers")
    from convergebench.editors.find import make_editor
    from tests.editors.diffusers import tiny
    from tests.editors.providers.asking import edited_by, request
    from tests.fuzz.pictures import picture

    folder, mark = tiny.save("instruct-pix2pix", tmp_path / "model"), tmp_path / "harmed"
    if way == "a pickle for weights":
        for path in (folder / "unet").glob("*.safetensors"):
            path.unlink()
        (folder / "unet" / "diffusion_pytorch_model.bin").write_bytes(_torch(Harmful(mark)))
    else:
        index = json.loads((folder / "model_index.json").read_text())
        index["unet"] = ["evil", "Evil"]
        (folder / "model_index.json").write_text(json.dumps(index))
        (folder / "unet" / "evil.py").write_text(
            f"import pathlib; pathlib.Path({str(mark)!r}).touch()\nclass Evil: pass\n"
        )
        shutil.copy(folder / "unet" / "evil.py", folder / "evil.py")
    editor = make_editor("instruct-pix2pix", path=str(folder), device="cpu", **tiny.OPTIONS["instruct-pix2pix"])
    with pytest.raises(ConvergeBenchError) as told:
        edited_by(editor, request(picture("PNG", side=64)))
    assert "\n" not in str(told.value)
    assert not mark.exists()


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "\x00", '{"unet": 3, "vae": ["x"]}', '{"unet": [1, null]}'])
def test_an_index_of_a_checkpoint_may_hold_anything(text: str, tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text(text)
    told = ""
    try:
        missing(tmp_path)
    except ConvergeBenchError as error:
        told = str(error)
    assert "\n" not in told
