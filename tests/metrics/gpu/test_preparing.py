"""What is prepared for a GPU, as far as it can be seen without one."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.images.frame import Frame
from convergebench.measuring.batches import lanes
from convergebench.metrics import load_metric
from convergebench.metrics._torch import compiled_here
from convergebench.metrics.base import GPU_BATCH, FunctionMetric, Item, Values, batch_size, metric, runs_on_gpu
from convergebench.metrics.place import PROCESSOR, Place

torch = pytest.importorskip("torch")
GPU = Place("cuda")


@pytest.mark.parametrize(("height", "width"), [(67, 83), (64, 64), (31, 200), (129, 66)])
def test_a_convolution_over_squares_is_the_one_with_a_stride(height: int, width: int) -> None:
    from convergebench.metrics.full_reference._networks import ALEXNET_FOLD

    generator = torch.Generator().manual_seed(1)
    image = torch.rand(2, 3, height, width, generator=generator, dtype=torch.float64)
    weights = torch.rand(5, 3, 11, 11, generator=generator, dtype=torch.float64)
    rows, columns = ALEXNET_FOLD.count(height), ALEXNET_FOLD.count(width)
    around = torch.nn.functional.pad(image, (2, 4 * columns, 2, 4 * rows))[:, :, : 4 * rows, : 4 * columns]
    # as the kernel `look_up` arranges them: a square's row, its column, then the channel
    squares = around.view(2, 3, rows, 4, columns, 4).permute(0, 3, 5, 1, 2, 4).reshape(2, 48, rows, columns)
    found = torch.nn.functional.conv2d(squares, ALEXNET_FOLD.weights(weights))
    expected = torch.nn.functional.conv2d(image, weights, stride=4, padding=2)
    torch.testing.assert_close(found, expected)


def test_pixel_metrics_and_networks_share_the_lane_of_the_gpu() -> None:
    metrics = {name: load_metric(name) for name in ("psnr", "ms-ssim", "lpips", "ssim-skimage", "sharpness")}
    processor, gpu = lanes(metrics, GPU, 4)
    assert set(gpu.metrics) == {"psnr", "ms-ssim", "lpips"}
    assert set(processor.metrics) == {"ssim-skimage", "sharpness"}
    (alone,) = lanes(metrics, PROCESSOR, 4)
    assert set(alone.metrics) == set(metrics)


def test_batches_are_larger_on_a_gpu_and_only_for_what_runs_there() -> None:
    assert batch_size(load_metric("psnr"), PROCESSOR) == 1
    assert batch_size(load_metric("psnr"), GPU) == GPU_BATCH
    assert batch_size(load_metric("lpips"), GPU) == GPU_BATCH
    assert batch_size(load_metric("ssim-skimage"), GPU) == 1


def test_without_a_gpu_the_processor_does_it() -> None:
    def never(items: object) -> Values:
        raise AssertionError("there is no GPU here")

    @metric("one", kind="no-reference", better="higher", range=(0, 1), on_gpu=never)
    def one(item: Item) -> float:
        """One."""
        return 1.0

    assert isinstance(one, FunctionMetric)
    assert runs_on_gpu(one)
    assert not compiled_here("cpu")
    assert one.measure([Item(Frame(np.zeros((4, 4, 3), np.uint8)))])[0].value == 1.0


def test_the_window_of_the_kernel_is_that_of_the_processor() -> None:
    from convergebench.metrics.full_reference import _structure
    from convergebench.metrics.gpu.compiling import gaussian

    assert np.allclose(gaussian(), _structure._DOWN.ravel(), atol=1e-8)
