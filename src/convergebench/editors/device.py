"""Where a torch network of an editor works: `auto`, `cpu`, `cuda` or `cuda:1`."""

from __future__ import annotations


def chosen_device(asked: str) -> str:
    """The device that was asked for; `auto` is a GPU if there is one."""
    import torch

    if asked == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return asked


def without_gpu(asked: str) -> list[str]:
    """What is missing if this GPU is not there, as an editor's `lacks` says it."""
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(asked.partition(":")[2] or 0) < count:
        return []
    return [f"there is no {asked} here (torch sees {count} of them); say device = 'cpu'"]
