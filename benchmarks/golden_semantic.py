"""Writes tests/golden/semantic.csv: values of others' code for the semantic metrics with weights that anyone can get.

    python -m benchmarks.golden_semantic

Needs imgsim 0.1.2 (with torchvision), dlib-bin, face-recognition-models and rapidocr-onnxruntime 1.4.4. Faces and text
are measured by the peers' own calls end to end; only the last step, the comparison of two answers, is written here.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from convergebench.images.frame import Pixels
from convergebench.metrics.torchvision_repair import ensure_torchvision
from tests.metrics.pictures import GOLDEN, golden_pair
from tests.metrics.semantic_pictures import FACES, TEXTS

PATH = Path(__file__).parents[1] / "tests" / "golden" / "semantic.csv"


def augnet() -> Iterator[tuple[str, float]]:
    ensure_torchvision()
    imgsim: Any = import_module("imgsim")
    network = imgsim.Vectorizer()

    def embedding(pixels: Pixels) -> Any:
        vector = network.vectorize(np.ascontiguousarray(pixels[..., ::-1])).astype(np.float64)
        return vector / np.linalg.norm(vector)

    for case in GOLDEN:
        subject, reference = golden_pair(case)
        yield case, float(embedding(subject) @ embedding(reference))


def faces() -> Iterator[tuple[str, float]]:
    dlib: Any = import_module("dlib")
    models: Any = import_module("face_recognition_models")
    detector = dlib.get_frontal_face_detector()
    landmarks = dlib.shape_predictor(models.pose_predictor_five_point_model_location())
    network = dlib.face_recognition_model_v1(models.face_recognition_model_location())

    def numbers(pixels: Pixels) -> Any:
        (place,) = detector(pixels)
        chip = dlib.get_face_chip(pixels, landmarks(pixels, place))
        return np.array(network.compute_face_descriptor(chip))

    for case, (subject, reference) in FACES.items():
        yield case, float(np.linalg.norm(numbers(subject()) - numbers(reference())))


def texts() -> Iterator[tuple[str, str]]:
    rapidocr: Any = import_module("rapidocr_onnxruntime")
    engine = rapidocr.RapidOCR()
    for case, picture in TEXTS.items():
        read, _ = engine(np.ascontiguousarray(picture()[..., ::-1]))
        yield case, "|".join("".join(text.split()) for _, text, _ in read or [])


def main() -> None:
    """Write the file."""
    rows = [("augnet", case, repr(v), "1e-05", "float32 convolutions", "imgsim 0.1.2") for case, v in augnet()]
    by = f"dlib {version('dlib-bin')}"
    rows += [("face-identity", case, repr(v), "1e-04", "float32 network", by) for case, v in faces()]
    by = f"rapidocr-onnxruntime {version('rapidocr-onnxruntime')}"
    rows += [("text", case, v, "", "letters without spaces", by) for case, v in texts()]
    with PATH.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("metric", "case", "value", "tolerance", "reason", "by"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
