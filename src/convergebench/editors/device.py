"""The device of an editor's torch network: `auto`, `cpu`, `cuda` or `cuda:1`."""

from __future__ import annotations


def chosen_device(requested: str) -> str:
    """The requested device; `auto` is a GPU if there is one."""
    import torch

    if requested == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return requested


def lacking_gpu(requested: str) -> list[str]:
    """The missing GPU, as an editor's `lacks` reports it; empty if it is there."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(requested.partition(":")[2] or 0) < count:
        return []
    return [f"there is no {requested} here (torch sees {count} of them); set device = 'cpu'"]
