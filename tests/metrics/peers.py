"""scikit-image's versions, typed."""

from __future__ import annotations

from typing import Any

from skimage import color
from skimage import metrics as skimage_metrics

from convergebench.images.frame import Pixels

# scikit-image has no annotations, and strict typing wants none of that
_metrics: Any = skimage_metrics
_color: Any = color


def ssim_default(x: Pixels, y: Pixels) -> float:
    return float(_metrics.structural_similarity(x, y, channel_axis=2, data_range=255))


def ssim_published(x: Pixels, y: Pixels) -> float:
    """With the published window, over the area where it fits."""
    published = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
    _, full = _metrics.structural_similarity(x, y, channel_axis=2, data_range=255, full=True, **published)
    return float(full[5:-5, 5:-5].mean())


def psnr(x: Pixels, y: Pixels) -> float:
    return float(_metrics.peak_signal_noise_ratio(x, y, data_range=255))


def rmse(x: Pixels, y: Pixels) -> float:
    return float(_metrics.mean_squared_error(x / 255, y / 255) ** 0.5)


def delta_e(x: Pixels, y: Pixels) -> float:
    return float(_color.deltaE_ciede2000(_color.rgb2lab(x), _color.rgb2lab(y)).mean())
