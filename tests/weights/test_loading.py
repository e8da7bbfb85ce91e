"""Files are read without running what is in them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from convergebench.errors import Prerequisite
from convergebench.weights.loading import arrays, matlab, numpy_pickle, safetensors_state, torch_state

torch = pytest.importorskip("torch")


class Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("import pathlib; pathlib.Path('harmed').touch()",)


def test_a_pickle_of_arrays_is_read(tmp_path: Path) -> None:
    content = {"layer": {"kernel": np.arange(6.0, dtype=np.float32).reshape(2, 3)}, "scale": np.float32(2)}
    (tmp_path / "a.ckpt").write_bytes(pickle.dumps(content))
    read = numpy_pickle(tmp_path / "a.ckpt")
    np.testing.assert_array_equal(read["layer"]["kernel"], content["layer"]["kernel"])  # type: ignore[index]
    assert read["scale"] == 2


@pytest.mark.parametrize("read", [numpy_pickle, torch_state])
def test_a_pickle_that_would_act_is_refused_before_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: object
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bad.ckpt"
    path.write_bytes(pickle.dumps(Harmful()))
    with pytest.raises(Prerequisite, match="fetch it again"):
        read(path)  # type: ignore[operator]
    torch.save({"w": Harmful()}, path)
    with pytest.raises(Prerequisite, match="fetch it again"):
        read(path)  # type: ignore[operator]
    assert not (tmp_path / "harmed").exists()


def test_tensors_are_read_from_torch_and_safetensors_files(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    state = {"weight": torch.arange(6.0).reshape(2, 3)}
    torch.save(state, tmp_path / "w.pth")
    save_file(state, tmp_path / "w.safetensors")
    for read in (torch_state(tmp_path / "w.pth"), safetensors_state(tmp_path / "w.safetensors")):
        assert torch.equal(read["weight"], state["weight"])


def test_matlab_and_npz_give_plain_arrays(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "m.mat", {"mu": np.ones((1, 3))})
    np.savez(tmp_path / "p.npz", mu=np.ones(3))
    assert list(matlab(tmp_path / "m.mat")) == ["mu"]
    assert arrays(tmp_path / "p.npz")["mu"].shape == (3,)


@pytest.mark.parametrize("read", [numpy_pickle, torch_state, safetensors_state, matlab, arrays])
def test_a_truncated_file_is_one_line(tmp_path: Path, read: object) -> None:
    path = tmp_path / "half"
    path.write_bytes(b"\x80\x04half of a file")
    with pytest.raises(Prerequisite, match="fetch it again") as caught:
        read(path)  # type: ignore[operator]
    assert "\n" not in str(caught.value)


def test_an_npz_with_objects_in_it_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", mu=np.array([{"a": 1}], dtype=object))
    with pytest.raises(Prerequisite, match="not a file of plain arrays"):
        arrays(tmp_path / "p.npz")


@pytest.mark.parametrize("kind", ["npz", "npy", "mat", "torch", "old torch", "safetensors", "pickle", "empty"])
@pytest.mark.parametrize("read", [numpy_pickle, torch_state, safetensors_state, matlab, arrays])
def test_damage_of_any_kind_is_one_line(tmp_path: Path, read: Callable[[Path], object], kind: str) -> None:
    from safetensors.torch import save_file

    path = tmp_path / "whole"
    ramp = np.arange(2000.0)
    if kind in ("npz", "npy"):
        with path.open("wb") as file:
            (np.savez if kind == "npz" else np.save)(file, ramp)
    elif kind == "mat":
        scipy.io.savemat(path, {"ramp": ramp}, appendmat=False, do_compression=True)
    elif kind == "safetensors":
        save_file({"ramp": torch.from_numpy(ramp)}, path)
    elif kind == "pickle":
        path.write_bytes(pickle.dumps({"ramp": ramp}))
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        torch.save({"ramp": torch.from_numpy(ramp)}, path, _use_new_zipfile_serialization=kind == "torch")
    whole, random = path.read_bytes(), np.random.default_rng(0)
    for _ in range(40):
        data = bytearray(whole[: random.integers(len(whole) + 1)] if random.random() < 0.5 else whole)
        for place in random.integers(0, min(len(data), 400), 3) if data else ():
            data[place] = random.integers(256)
        path.write_bytes(data)
        told = ""
        try:
            read(path)  # a changed number is not seen here; the checksum has seen it
        except Prerequisite as error:
            told = str(error)
        assert not told or "fetch it again" in told
        assert "\n" not in told
        assert len(told) < 500


def test_a_file_of_something_else_than_a_dictionary_is_refused(tmp_path: Path) -> None:
    torch.save([torch.zeros(1)], tmp_path / "list.pth")
    with pytest.raises(Prerequisite, match="a list instead of a dictionary"):
        torch_state(tmp_path / "list.pth")
