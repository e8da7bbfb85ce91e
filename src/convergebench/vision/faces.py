"""Finds faces and their 468 landmarks (MediaPipe's face mesh), with names for the parts of a face."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convergebench.vision.face_detector import FoundFace, detect_faces
from convergebench.vision.networks import Picture, check_picture, run_graph
from convergebench.vision.objects import PixelBox

SIDE = 192
"""Pixels of the square that the network looks at."""
ENLARGED = 1.5
"""Side of that square, as a multiple of the face's."""
SURE = 0.5
PASSES = 2
"""The second look is at the face where the first one found it, upright and in the middle."""

Points = NDArray[np.float32]
"""n × 2: x and y in pixels."""

# numbers of landmarks; left and right as in the picture of a face that is upright
_LEFT_EYE = (33, 246, 161, 160, 159, 158, 157, 173, 133, 155, 154, 153, 145, 144, 163, 7)
_RIGHT_EYE = (263, 466, 388, 387, 386, 385, 384, 398, 362, 382, 381, 380, 374, 373, 390, 249)
_LEFT_BROW = (70, 63, 105, 66, 107, 55, 65, 52, 53, 46)
_RIGHT_BROW = (300, 293, 334, 296, 336, 285, 295, 282, 283, 276)
_NOSE_BRIDGE = (168, 6, 197, 195, 5, 4)
_MOUTH = (61, 185, 40, 39, 37, 0, 267, 269, 270, 409, 291, 375, 321, 405, 314, 17, 84, 181, 91, 146)
_JAW = (234, 93, 132, 58, 172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379, 365, 397, 288, 361, 323, 454)
_FOREHEAD = (234, 127, 162, 21, 54, 103, 67, 109, 10, 338, 297, 332, 284, 251, 389, 356, 454)
_CHEEKBONES = (234, 454)
_EYE_CORNERS = (33, 263)


@dataclass(frozen=True, eq=False, slots=True)
class FaceMesh:
    """A face: its 468 landmarks, a box around them, and how sure the network is (0 to 1).

    `left` and `right` are sides of the picture, not of the person. Landmarks may lie outside the picture.
    """

    points: Points
    box: PixelBox
    confidence: float

    @property
    def left_eye(self) -> Points:
        """The outline of the eye on the left, from its outer corner."""
        return self.points[list(_LEFT_EYE)]

    @property
    def right_eye(self) -> Points:
        """The outline of the eye on the right, from its outer corner."""
        return self.points[list(_RIGHT_EYE)]

    @property
    def left_brow(self) -> Points:
        """The outline of the brow on the left."""
        return self.points[list(_LEFT_BROW)]

    @property
    def right_brow(self) -> Points:
        """The outline of the brow on the right."""
        return self.points[list(_RIGHT_BROW)]

    @property
    def nose_bridge(self) -> Points:
        """From between the eyes down to the tip of the nose."""
        return self.points[list(_NOSE_BRIDGE)]

    @property
    def mouth(self) -> Points:
        """The outer outline of the lips, from the left corner over the upper lip."""
        return self.points[list(_MOUTH)]

    @property
    def jaw(self) -> Points:
        """The jaw line from beside the left ear over the chin to beside the right ear."""
        return self.points[list(_JAW)]

    @property
    def forehead(self) -> Points:
        """The upper outline of the face from beside the left ear over the hairline to beside the right ear."""
        return self.points[list(_FOREHEAD)]

    @property
    def outline(self) -> Points:
        """The whole outline of the face, as a closed polygon."""
        return np.concatenate([self.forehead, self.jaw[-2:0:-1]])

    @property
    def width(self) -> float:
        """Width of the head between the cheekbones, in pixels."""
        left, right = self.points[list(_CHEEKBONES)]
        return float(np.linalg.norm(right - left))

    @property
    def roll(self) -> float:
        """Angle of the line through the eyes in degrees; positive: the right eye is lower in the picture."""
        left, right = self.points[list(_EYE_CORNERS)]
        return math.degrees(math.atan2(float(right[1] - left[1]), float(right[0] - left[0])))


def find_faces(image: Picture) -> list[FaceMesh]:
    """The faces of a picture, the largest first."""
    check_picture(image)
    meshes: list[FaceMesh] = []
    for face in detect_faces(image):
        mesh = _mesh(image, face)
        if mesh is not None and all(mesh.box.overlap(other.box) < SURE for other in meshes):
            meshes.append(mesh)
    return sorted(meshes, key=lambda mesh: -mesh.box.area)


def _mesh(image: Picture, face: FoundFace) -> FaceMesh | None:
    """The landmarks of a face, or None where the network sees none."""
    # the eyes of a small face are often misplaced
    for angle in (_angle(face.left_eye, face.right_eye), 0.0):
        points, confidence = _landmarks(image, face.centre, face.side * ENLARGED, angle)
        if confidence >= SURE:
            break
    for _ in range(PASSES - 1):
        low, high = points.min(0), points.max(0)
        left, right = points[list(_EYE_CORNERS)]
        side = float((high - low).max()) * ENLARGED
        points, confidence = _landmarks(image, (low + high) / 2, side, _angle(left, right))
    height, width = image.shape[:2]
    start = np.clip(np.floor(points.min(0)), 0, (width, height)).astype(int).tolist()
    end = np.clip(np.ceil(points.max(0)), 0, (width, height)).astype(int).tolist()
    if confidence < SURE or start[0] >= end[0] or start[1] >= end[1]:
        return None
    return FaceMesh(points, PixelBox(*start, *end), confidence)


def _angle(left: Points, right: Points) -> float:
    return math.atan2(float(right[1] - left[1]), float(right[0] - left[0]))


def _landmarks(image: Picture, centre: Points, side: float, angle: float) -> tuple[Points, float]:
    """What the network sees in a square of the picture, turned upright; and how sure it is that it is a face."""
    import cv2

    across = np.array([math.cos(angle), math.sin(angle)]) * side / SIDE
    down = np.array([-across[1], across[0]])
    origin = centre - (across + down) * (SIDE - 1) / 2
    to_picture = np.stack([across, down, origin], 1)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    source, matrix = _reduced(image, to_picture)
    upright = cv2.warpAffine(source, matrix, (SIDE, SIDE), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    outputs = run_graph("facemesh", upright[None].astype(np.float32) / np.float32(255))
    places = outputs["output_mesh"].reshape(-1, 3)[:, :2]
    points = places @ to_picture[:, :2].T + to_picture[:, 2]
    return points.astype(np.float32), float(outputs["output_faceflag"].reshape(()))


def _reduced(image: Picture, to_picture: NDArray[np.float64]) -> tuple[Picture, NDArray[np.float64]]:
    """The picture reduced to about the scale of the network's square, so that a large face is not sampled coarsely."""
    import cv2

    scale = float(np.linalg.norm(to_picture[:, 0]))
    if scale < 2:
        return image, to_picture
    sizes = max(1, round(image.shape[1] / scale)), max(1, round(image.shape[0] / scale))
    small = cv2.resize(image, sizes, interpolation=cv2.INTER_AREA)
    ratio = np.array([[sizes[0] / image.shape[1]], [sizes[1] / image.shape[0]]])
    return np.asarray(small, np.uint8), to_picture * ratio
