"""The classical restorers by name: their options, their work, and the time it takes."""

from __future__ import annotations

from convergebench.editors.classical.bilateral import BilateralOptions, bilateral
from convergebench.editors.classical.editor import ClassicalEditor, ClassicalMethod
from convergebench.editors.classical.non_local_means import NonLocalMeansOptions, non_local_means
from convergebench.editors.classical.restore_classical import RestoreClassicalOptions, restore_classical
from convergebench.editors.classical.richardson_lucy import RichardsonLucyOptions, richardson_lucy
from convergebench.editors.classical.scratch_inpaint import ScratchInpaintOptions, scratch_inpaint
from convergebench.editors.classical.unsharp import UnsharpOptions, unsharp
from convergebench.editors.classical.wiener import WienerOptions, wiener

METHODS = {
    method.name: method
    for method in (
        ClassicalMethod("non-local-means", NonLocalMeansOptions, non_local_means, seconds=2.0),
        ClassicalMethod("bilateral", BilateralOptions, bilateral, seconds=0.4),
        ClassicalMethod("unsharp", UnsharpOptions, unsharp, seconds=0.2),
        ClassicalMethod("richardson-lucy", RichardsonLucyOptions, richardson_lucy, seconds=3.0),
        ClassicalMethod("wiener", WienerOptions, wiener, seconds=1.0),
        ClassicalMethod("scratch-inpaint", ScratchInpaintOptions, scratch_inpaint, seconds=2.0),
        ClassicalMethod("restore-classical", RestoreClassicalOptions, restore_classical, seconds=5.0),
    )
}


def non_local_means_editor(name: str, **options: object) -> ClassicalEditor:
    """`non-local-means`: averages similar patches, more for noisier images; ignores the instruction."""
    return ClassicalEditor(name, METHODS["non-local-means"], options)


def bilateral_editor(name: str, **options: object) -> ClassicalEditor:
    """`bilateral`: averages neighbours of similar colour, more for noisier images; ignores the instruction."""
    return ClassicalEditor(name, METHODS["bilateral"], options)


def unsharp_editor(name: str, **options: object) -> ClassicalEditor:
    """`unsharp`: adds the difference from a blurred copy; ignores the instruction."""
    return ClassicalEditor(name, METHODS["unsharp"], options)


def richardson_lucy_editor(name: str, **options: object) -> ClassicalEditor:
    """`richardson-lucy`: removes the estimated blur, or the given `psf`, iteratively; ignores the instruction."""
    return ClassicalEditor(name, METHODS["richardson-lucy"], options)


def wiener_editor(name: str, **options: object) -> ClassicalEditor:
    """`wiener`: removes the estimated blur, or the given `psf`, in one step; ignores the instruction."""
    return ClassicalEditor(name, METHODS["wiener"], options)


def scratch_inpaint_editor(name: str, **options: object) -> ClassicalEditor:
    """`scratch-inpaint`: finds scratches and dust and fills them from their surroundings; ignores the instruction."""
    return ClassicalEditor(name, METHODS["scratch-inpaint"], options)


def restore_classical_editor(name: str, **options: object) -> ClassicalEditor:
    """`restore-classical`: non-local means, then scratch repair, then a mild Wiener filter; ignores the instruction."""
    return ClassicalEditor(name, METHODS["restore-classical"], options)
