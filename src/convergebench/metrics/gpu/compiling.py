"""CUDA kernels out of `kernels.cu`: compiled by NVRTC, which comes with torch, and started by the driver.

Neither a CUDA toolkit nor a C++ compiler is needed. Both libraries are called by their C interfaces, which have been
the same for a decade; torch's own wrapper of them wants a toolkit.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from convergebench.metrics.full_reference._structure import C1, C2, SIGMA, WINDOW

THREADS = 256
"""Per block, as in `kernels.cu`."""
STRIP = 170
"""Rows of results that one block walks down, as in `kernels.cu`."""


class CudaError(RuntimeError):
    """The driver or the compiler refused something."""


class CudaKernel:
    """A compiled kernel: call it with its grid and arguments; it runs on torch's current stream."""

    def __init__(self, driver: ctypes.CDLL, function: ctypes.c_void_p, name: str) -> None:
        self._driver, self._function, self._name = driver, function, name

    def __call__(self, grid: tuple[int, int, int], *arguments: Tensor | int | float) -> None:
        """Start it; tensors become addresses, whole numbers `int` and others `float`."""
        values = [_argument(one) for one in arguments]
        addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(one) for one in values))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = self._driver.cuLaunchKernel(self._function, *grid, THREADS, 1, 1, 0, stream, addresses, None)
        if code:
            raise CudaError(f"the GPU refused the kernel {self._name} (CUDA error {code})")


def _argument(value: Tensor | int | float) -> Any:
    if isinstance(value, Tensor):
        return ctypes.c_void_p(value.data_ptr())
    return ctypes.c_int(value) if isinstance(value, int) else ctypes.c_float(value)


def gaussian() -> list[float]:
    """The window of SSIM; its sum is 1."""
    weights = [exp(-((place - WINDOW // 2) ** 2) / (2 * SIGMA**2)) for place in range(WINDOW)]
    return [weight / sum(weights) for weight in weights]


def usable(device: str) -> bool:
    """Whether kernels can be compiled for this device: an NVIDIA GPU, with NVRTC beside torch."""
    if not device.startswith("cuda") or torch.version.cuda is None:
        return False
    try:
        kernel("squares", device)
    except (CudaError, OSError):
        return False
    return True


def kernel(name: str, device: str) -> CudaKernel:
    """The kernel of that name; all of them are compiled on the first call, in about a second."""
    with torch.cuda.device(device):
        driver, module = _module(torch.cuda.current_device())
        return _function(driver, module.value or 0, name)


@cache
def _function(driver: ctypes.CDLL, module: int, name: str) -> CudaKernel:
    found = ctypes.c_void_p()
    code = driver.cuModuleGetFunction(ctypes.byref(found), ctypes.c_void_p(module), name.encode())
    if code:
        raise CudaError(f"there is no kernel {name} (CUDA error {code})")
    return CudaKernel(driver, found, name)


@cache
def _module(index: int) -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    torch.cuda.synchronize()  # makes the device's context
    driver = ctypes.CDLL("libcuda.so.1")
    module = ctypes.c_void_p()
    code = driver.cuModuleLoadData(ctypes.byref(module), _binary(*torch.cuda.get_device_capability(index)))
    if code:
        raise CudaError(f"the driver cannot load the kernels (CUDA error {code})")
    return driver, module


@cache
def _binary(major: int, minor: int) -> bytes:
    source = Path(__file__).with_name("kernels.cu").read_bytes()
    weights = ",".join(f"{weight:.9e}f" for weight in gaussian())
    options = [f"--gpu-architecture=sm_{major}{minor}", "--std=c++17", f"-DWEIGHTS={weights}"]
    options += [f"-DTAPS={WINDOW}", f"-DC1={C1:.9e}f", f"-DC2={C2:.9e}f"]
    return _compiled(source, options)


def _compiled(source: bytes, options: Sequence[str]) -> bytes:
    library = _nvrtc()
    program = ctypes.c_void_p()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), source, b"kernels.cu", 0, None, None))
    try:
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if library.nvrtcCompileProgram(program, len(options), words):
            raise CudaError(f"kernels.cu cannot be compiled: {_read(library, program, 'ProgramLog').decode()}")
        return _read(library, program, "CUBIN")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _read(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    content = ctypes.create_string_buffer(size.value)
    _check(getattr(library, f"nvrtcGet{what}")(program, content))
    return content.raw


def _check(code: int) -> None:
    if code:
        raise CudaError(f"NVRTC failed (error {code})")


def _nvrtc() -> ctypes.CDLL:
    """The compiler's library: where the loader finds it, beside torch, or in NVIDIA's packages."""
    major = str(torch.version.cuda).partition(".")[0]
    name = f"libnvrtc.so.{major}"
    beside = Path(torch.__file__).parent / "lib"
    packages = Path(torch.__file__).parents[1] / "nvidia"
    for place in (
        name,
        *sorted(map(str, beside.glob("libnvrtc*.so*"))),
        *sorted(map(str, packages.glob(f"*/lib/{name}"))),
    ):
        if "builtins" in place or ".alt." in place:
            continue
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    raise OSError(f"{name} was not found")
