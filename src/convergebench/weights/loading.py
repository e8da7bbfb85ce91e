"""Reading weight files without running anything that is in them.

A pickle can run code while it is read. Here only arrays are let through: torch's own `weights_only`, safetensors, and
for pickles of numpy arrays an unpickler that knows the three names such arrays are made of.
"""

from __future__ import annotations

import io
import pickle
import warnings
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


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return super().find_class(*_ALLOWED[module, name])


def numpy_pickle(path: Path) -> Any:
    """Dictionaries, lists and numpy arrays out of a pickle; anything else in it is refused before it can act."""
    try:
        return _ArraysOnly(io.BytesIO(path.read_bytes())).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, IndexError, ValueError, TypeError) as error:
        raise Prerequisite(f"{path} is not a pickle of arrays alone ({error}); fetch it again") from error


def torch_state(path: Path) -> dict[str, torch.Tensor]:
    """A state dictionary saved by torch, tensors only."""
    torch = _torch()
    try:
        with warnings.catch_warnings():  # about a foreign pickle, which is then refused anyway
            warnings.simplefilter("ignore")
            state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, LookupError, TypeError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise Prerequisite(f"{path} cannot be read as tensors alone ({first}); fetch it again") from error
    return state


def safetensors_state(path: Path) -> dict[str, torch.Tensor]:
    """A state dictionary in safetensors form."""
    _torch()
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state: dict[str, torch.Tensor] = load_file(path)
    except SafetensorError as error:
        raise Prerequisite(f"{path} is not a whole safetensors file ({error}); fetch it again") from error
    return state


def matlab(path: Path) -> dict[str, Array]:
    """The arrays of a MATLAB file."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content: dict[str, Any] = loadmat(path)
    except (MatReadError, ValueError, NotImplementedError) as error:
        raise Prerequisite(f"{path} is not a MATLAB file ({error}); fetch it again") from error
    return {name: value for name, value in content.items() if not name.startswith("__")}


def arrays(path: Path) -> dict[str, Array]:
    """The arrays of an `.npz` file."""
    try:
        with np.load(path, allow_pickle=False) as content:
            return {name: content[name] for name in content.files}
    except (ValueError, OSError) as error:
        raise Prerequisite(f"{path} is not a file of plain arrays ({error}); fetch it again") from error


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise Prerequisite('these weights need torch: pip install "convergebench[learned]"') from None
    return torch
