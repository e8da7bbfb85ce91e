"""Reading weight files without running anything that is in them.

A pickle can run code while it is read. Here only arrays are loaded: by torch's `weights_only`, by safetensors, and for
pickles of numpy arrays by an unpickler that accepts only the three names they are made of.
"""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Prerequisite

if TYPE_CHECKING:
    import torch

Array = NDArray[Any]

_ALLOWED = {
    ("numpy", "ndarray"): ("numpy", "ndarray"),
    ("numpy", "dtype"): ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"): ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"): ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"): ("numpy._core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"): ("numpy._core.multiarray", "scalar"),
}


class _ArraysOnly(pickle._Unpickler):  # the one in C reserves memory for any number that a file names
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return super().find_class(*_ALLOWED[module, name])


def numpy_pickle(path: Path) -> Any:
    """Dictionaries, lists and numpy arrays from a pickle; anything else is rejected before it can run."""
    with _read_errors(path, "is not a pickle that contains only arrays"):
        return _ArraysOnly(io.BytesIO(path.read_bytes())).load()


def torch_state(path: Path) -> dict[str, torch.Tensor]:
    """A state dictionary saved by torch, tensors only."""
    torch = _torch()
    with _read_errors(path, "contains more than tensors"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about pickles from other sources, which are rejected anyway
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(state, dict):
            raise TypeError(f"a {type(state).__name__} instead of a dictionary")
    return state


def safetensors_state(path: Path) -> dict[str, torch.Tensor]:
    """A state dictionary in safetensors form."""
    _torch()
    from safetensors.torch import load_file

    with _read_errors(path, "is not a complete safetensors file"):
        state: dict[str, torch.Tensor] = load_file(path)
    return state


def matlab(path: Path) -> dict[str, Array]:
    """The arrays of a MATLAB file."""
    from scipy.io import loadmat

    with _read_errors(path, "is not a MATLAB file"):
        content: dict[str, Any] = loadmat(path)
    return {name: value for name, value in content.items() if not name.startswith("__")}


def arrays(path: Path) -> dict[str, Array]:
    """The arrays of an `.npz` file."""
    with _read_errors(path, "is not a file of plain arrays"), path.open("rb") as file:
        content = np.load(file, allow_pickle=False)
        return {name: content[name] for name in content.files}


@contextmanager
def _read_errors(path: Path, what: str) -> Iterator[None]:
    """Turn any exception of a reader into a `Prerequisite`: damaged files make them raise two dozen types."""
    try:
        yield
    except Exception as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise Prerequisite(f"{path} {what} ({why}); fetch it again") from error


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise Prerequisite('these weights need torch: pip install "convergebench[learned]"') from None
    return torch
