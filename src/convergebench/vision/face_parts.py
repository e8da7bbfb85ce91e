"""Which pixels of a face are skin, hair, glasses, a hat, earrings …, with a BiSeNetV2 learned from CelebAMask-HQ.

It is what sees things worn on a face, of which the object detector has no kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from convergebench.vision.faces import FaceMesh
from convergebench.vision.networks import Mask, Picture, check_picture
from convergebench.weights.store import locate

if TYPE_CHECKING:
    from pathlib import Path

    from convergebench.tfjs.graph import Graph
    from convergebench.tfjs.program import Program

WEIGHTS = "face-parts"
SIDE = 448
"""Pixels of the square that the network looks at."""
AROUND = 2.3
"""Side of that square, in heights of the face (chin to forehead)."""
LOGITS = "BiseNetV2/logits/segmentation_head_logits"
_BLOCK = "BiseNetV2/aggregation_branch/guided_aggregation_block"
_SIZES = {
    f"{_BLOCK}/semantic_branch/strided_slice": SIDE // 8,
    f"{_BLOCK}/aggregation_features/strided_slice": SIDE // 8,
    f"{LOGITS}/size": SIDE,
}
"""Nodes that give the size of inner tensors, which is known for a fixed input."""

FacePart = Literal[
    "background", "skin", "left brow", "right brow", "left eye", "right eye", "glasses", "left ear", "right ear",
    "earring", "nose", "mouth", "upper lip", "lower lip", "neck", "necklace", "clothes", "hair", "hat",
]  # fmt: skip
PARTS: tuple[FacePart, ...] = get_args(FacePart)

_loaded: dict[Path, Program] = {}
_lock = Lock()


@dataclass(frozen=True, eq=False, slots=True)
class FaceParts:
    """The part that each pixel belongs to (its place in `PARTS`); background beyond the square that was looked at."""

    labels: NDArray[np.uint8]

    def mask(self, *parts: FacePart) -> Mask:
        """The pixels of these parts."""
        return np.isin(self.labels, [PARTS.index(part) for part in parts])


def face_parts(image: Picture, face: FaceMesh) -> FaceParts:
    """The parts of one face of a picture."""
    import cv2
    import torch

    check_picture(image)
    left, top, side = _square(face)
    # from the network's square to the picture; beyond its sides the picture's edge is repeated
    scale = side / SIDE
    move = np.array([[scale, 0, left], [0, scale, top]], np.float64)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    softened = cv2.GaussianBlur(image, (0, 0), scale / 2) if scale > 1.5 else image
    square = cv2.warpAffine(softened, move, (SIDE, SIDE), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    values = torch.from_numpy(np.asarray(square, np.float32)[None] / 127.5 - 1)
    logits = _program()(values)[0].numpy()
    height, width = image.shape[:2]
    inside = (
        slice(max(0, round(top)), min(height, round(top + side))),
        slice(max(0, round(left)), min(width, round(left + side))),
    )
    rows, columns = np.mgrid[inside].astype(np.float32)
    places = (columns - left) / scale, (rows - top) / scale
    best = np.full(rows.shape, -np.inf, np.float32)
    labels = np.zeros((height, width), np.uint8)
    for number in range(len(PARTS)):
        # resized before the maximum is taken, so that outlines are smooth
        score = cv2.remap(
            np.ascontiguousarray(logits[..., number]), *places, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        higher = score > best
        labels[inside][higher] = number
        best = np.where(higher, score, best)
    return FaceParts(labels)


def _square(face: FaceMesh) -> tuple[float, float, float]:
    """Left, top and side of the square to look at: the face a little below its middle, with room for hair and a hat."""
    side = AROUND * max(8.0, face.box.height)
    middle = (face.box.left + face.box.right) / 2, (face.box.top + face.box.bottom) / 2 - 0.05 * side
    return middle[0] - side / 2, middle[1] - side / 2, side


def _program() -> Program:
    folder = locate(WEIGHTS)
    with _lock:
        if folder not in _loaded:
            from convergebench.tfjs.graph import read_graph
            from convergebench.tfjs.program import Program

            _loaded[folder] = Program(_up_to_the_scores(read_graph(folder)))
        return _loaded[folder]


def _up_to_the_scores(graph: Graph) -> Graph:
    """The graph without its last nodes, and with constants for sizes that it would work out from inner tensors."""
    from convergebench.tfjs.graph import GraphNode, NodeOutput

    known = {name: GraphNode(name, "Const") for name in _SIZES}
    sizes = {name: np.array([side, side], np.int32) for name, side in _SIZES.items()}
    whole = replace(
        graph,
        nodes={**graph.nodes, **known},
        constants={**graph.constants, **sizes},
        outputs={LOGITS: NodeOutput(LOGITS)},
    )
    return replace(whole, nodes={node.name: node for node in whole.order()})
