"""What each kind of node does, by TensorFlow's rules, in torch.

Tensors of pixels and of features lie as TensorFlow has them: number, height, width, channels.
"""

from __future__ import annotations

from collections.abc import Mapping

from convergebench.editors.maxim.operations import arithmetic, fused, layers, resizing, shapes
from convergebench.editors.maxim.operations.base import Operation

OPERATIONS: Mapping[str, Operation] = {
    **arithmetic.OPERATIONS,
    **shapes.OPERATIONS,
    **layers.OPERATIONS,
    **resizing.OPERATIONS,
    **fused.OPERATIONS,
}

__all__ = ["OPERATIONS", "Operation"]
