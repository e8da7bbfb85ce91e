"""Means over windows that reach beyond the sides, as TensorFlow takes them."""

from __future__ import annotations

import torch

from convergebench.tfjs.graph import GraphNode
from convergebench.tfjs.layers import mean_pool


def test_pixels_beyond_the_sides_do_not_count() -> None:
    node = GraphNode("pool", "AvgPool", (), {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"})
    values = torch.arange(16, dtype=torch.float32).reshape(1, 4, 4, 1)
    # SAME puts the odd row and column after the last: windows begin at 0 and 2
    expected = torch.tensor(
        [[values[0, :3, :3].mean(), values[0, :3, 2:].mean()], [values[0, 2:, :3].mean(), values[0, 2:, 2:].mean()]]
    )
    torch.testing.assert_close(mean_pool(node, values)[0, :, :, 0], expected)
