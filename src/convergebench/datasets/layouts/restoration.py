"""Results of restoration methods that ran elsewhere: a folder of spoilt pictures and one folder for each method.

    input/small-face/001.png    what was to be restored; sub-folders are kinds
    clean/small-face/001.png    what it should look like, if that is known
    HYPIR/small-face/001.png    a method's results: equal names, any extension
    EDITOR/LF3/0/001.png        of an editor with words: the prompt and, if it was asked several times, the repeat

The folders may also lie inside those of the kinds (`small-face/input`, `small-face/HYPIR`), and methods inside
`results`. Without a folder of inputs they are those of `--images` (a folder, or what `cbench degrade` wrote) or of the
run that the results are added to; then the folder may be that of one method. Words of one's own: `prompts.toml` beside
the folders.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from convergebench.datasets.chains import FoundChains, RecordedChain, RecordedStep, chain_id
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.pictures import in_file, is_image
from convergebench.datasets.restored_inputs import SpoiltPicture, SpoiltPictures, named, of_folder, of_run, of_suite
from convergebench.documents import read_document
from convergebench.edits.restoration_prompts import PromptsFile, RestorationPrompt, shipped_prompts
from convergebench.errors import StudyError
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.studies.restoration_table import RestorationTable

LOOKS_FOR = "folders of pictures with equal names: input, METHOD and, if there are clean ones, clean"
ORIGIN = "restored elsewhere"
STUDY = "restoration"

INPUTS = ("input", "inputs", "lq", "lr", "degraded", "low", "low-quality")
CLEAN = ("clean", "gt", "hq", "hr", "ground-truth", "groundtruth", "target", "reference", "high", "high-quality")
WRAPPERS = ("results", "result", "outputs", "output", "methods")
"""Folders that methods may lie in."""

_REPEAT = re.compile(r"^(?:repeat|rep|run|trial|seed)?[ _-]*(\d{1,3})$", re.IGNORECASE)


class Result(NamedTuple):
    """One restored picture."""

    method: str | None
    prompt: str | None
    repeat: int
    picture: SpoiltPicture
    path: Path


def recognise(place: SetLocation) -> str | None:
    """A folder of inputs beside one of results, or results whose names are those of known inputs."""
    if place.path.is_file():
        return None
    results = _Results(place)
    try:
        found = next(results.found(), None)
    except StudyError:
        if results.parts:  # it is such a set, and something in it is wrong
            raise
        return None
    if found is None or results.inputs is None:
        return None
    many = len(results.inputs.pictures)
    return f"results such as {place.inside(found.path)} for {many} pictures of {results.inputs.origin}"


def read(place: SetLocation, images: Path | None) -> FoundChains:
    """One chain for every method, prompt, repeat and picture; those without a result are imported as ended."""
    results = _Results(place)
    assert results.inputs is not None, "recognise() found them"
    by_method: dict[str | None, list[Result]] = defaultdict(list)
    for result in results.found():
        by_method[result.method].append(result)
    chains: list[RecordedChain] = []
    faults: list[str] = []
    notes = [f"{line} match no input" for line in [named(map(str, results.strays))] if results.strays]
    notes += [line for line in [_without_clean(results.inputs)] if line]
    for method, mine in by_method.items():
        try:
            made, missing = _method(method, mine, results)
        except StudyError as error:
            faults.append(str(error))
            continue
        chains += made
        notes += [missing] if missing else []
    return FoundChains(tuple(chains), tuple(faults), tuple(notes))


def _method(method: str | None, mine: list[Result], results: _Results) -> tuple[list[RecordedChain], str]:
    """A method's chains, and which of its results are missing."""
    assert results.inputs is not None
    who = method or "the method"
    asked = {result.prompt for result in mine}
    if None in asked and len(asked) > 1:
        without = next(result.path for result in mine if result.prompt is None)
        raise StudyError(
            f"{who} has results with a prompt and without one, {without}; put those into a prompt's folder"
        )
    made: dict[tuple[str, int, str], Path] = {}
    for result in mine:
        key = (result.prompt or results.unified, result.repeat, result.picture.name)
        if key in made:
            raise StudyError(f"{made[key]} and {result.path} are two results for one image; leave one out")
        made[key] = result.path
    chains, missing = [], []
    asked_for = sorted({key[:2] for key in made}, key=lambda key: (results.order(key[0]), key[1]))
    for prompt, repeat in asked_for:
        for picture in results.inputs.pictures:
            path = made.get((prompt, repeat, picture.name))
            chains.append(
                _chain(
                    method, picture, path, prompt=results.prompts[prompt], repeat=repeat, instructed=None not in asked
                )
            )
            if path is None:
                missing.append(picture.name if len(asked_for) == 1 else f"{prompt}/{repeat}/{picture.name}")
    line = f"{who} has no result for {len(missing)} of {len(chains)}: {named(missing)}" if missing else ""
    return chains, line


def _chain(
    method: str | None,
    picture: SpoiltPicture,
    path: Path | None,
    *,
    prompt: RestorationPrompt,
    repeat: int,
    instructed: bool,
) -> RecordedChain:
    return RecordedChain(
        id=chain_id(picture.source.id, prompt.id, repeat),
        editor=method,
        variant=prompt.id,
        run=repeat,
        source=picture.source,
        steps=() if path is None else (RecordedStep(in_file(path), prompt.words),),
        origin=ORIGIN,
        family=prompt.group,
        unanswered=(prompt.words,) if path is None else (),
        prompt=prompt,
        clean=picture.clean,
        instructed=instructed,
    )


def _without_clean(inputs: SpoiltPictures) -> str:
    lacking = [one.name for one in inputs.pictures if one.clean is None]
    if not lacking or len(lacking) == len(inputs.pictures):
        return ""
    many = f"{len(lacking)} of {len(inputs.pictures)} inputs"
    return f"{many} have no clean image and are measured without a reference: {named(lacking)}"


class _Part(NamedTuple):
    """A folder with inputs and the methods beside them."""

    folder: Path
    inputs: Path
    clean: Path | None
    category: str


@dataclass(frozen=True)
class _Results:
    """The results of a folder, by the names of its folders and files."""

    place: SetLocation

    @cached_property
    def parts(self) -> list[_Part]:
        """The folder itself, or those of its kinds."""
        root = self.place.root
        for folders in ([root], [path for path in sorted(root.iterdir()) if path.is_dir()]):
            found = [part for folder in folders if (part := _part(folder, root)) is not None]
            if found:
                return found
        return []

    @cached_property
    def inputs(self) -> SpoiltPictures | None:
        """Of the set itself, of `--images`, or of the run; None if there are none."""
        root, images = self.place.root, self.place.images
        if self.parts:
            each = [of_folder(one.inputs, one.clean, category=one.category, root=root) for one in self.parts]
            return SpoiltPictures(tuple(one for pictures in each for one in pictures), self.parts[0].inputs.name)
        for folder in (root, images):
            if folder is not None and (folder / "suite.toml").is_file():
                return of_suite(folder / "suite.toml")
        if images is not None:
            part = _part(images, images)
            inputs, clean = (part.inputs, part.clean) if part else (images, None)
            return SpoiltPictures(tuple(of_folder(inputs, clean, root=images)), str(images))
        return of_run(self.place.run) if self.run is not None and self.place.run is not None else None

    @cached_property
    def run(self) -> Manifest | None:
        """The run that the results are added to, if it is one of restoration."""
        if self.place.run is None or not (self.place.run / "manifest.json").is_file():
            return None
        manifest = read_manifest(self.place.run / "manifest.json")
        return manifest if manifest.study == STUDY else None

    @cached_property
    def prompts(self) -> dict[str, RestorationPrompt]:
        """Those of the literature, of the run and of `prompts.toml`, which speaks last."""
        found = {one.id: one for one in shipped_prompts()}
        found |= {id: _of_run(id, facts) for id, facts in (self.run.pairs if self.run else {}).items()}
        own = self.place.root / "prompts.toml"
        return found | ({one.id: one for one in read_document(own, PromptsFile).prompt} if own.is_file() else {})

    @cached_property
    def unified(self) -> str:
        """The prompt under which methods without words stand beside those with words."""
        stated = self.run.spec.get("restoration", {}).get("unified") if self.run else None
        unified = str(stated or RestorationTable().unified)
        return next(iter(self.run.pairs)) if self.run and self.run.pairs and unified not in self.run.pairs else unified

    def order(self, prompt: str) -> int:
        """The prompt's place in the design."""
        return list(self.prompts).index(prompt)

    @cached_property
    def strays(self) -> list[Path]:
        """Pictures beside the inputs that belong to none of them."""
        return [self.place.inside(path) for path, result in self._sorted if result is None]

    def found(self) -> Iterator[Result]:
        """Every result."""
        return (result for _, result in self._sorted if result is not None)

    @cached_property
    def _sorted(self) -> list[tuple[Path, Result | None]]:
        if self.inputs is None:
            return []
        root, images = self.place.root, self.place.images
        taken = {one for part in self.parts for one in (part.inputs, part.clean)}
        taken |= {root / "images"} if (root / "suite.toml").is_file() else set()
        taken |= {images} if images is not None and images != root else set()
        files = [path for path in self.place.files if is_image(path) and not taken.intersection(path.parents)]
        return [(path, self._result(path)) for path in files]

    def _result(self, path: Path) -> Result | None:
        assert self.inputs is not None
        part = next((one for one in self.parts if one.category and one.folder in path.parents), None)
        inside = path.relative_to(part.folder if part else self.place.root)
        belongs = None
        if part:  # `small-face/HYPIR/001.png`: the kind is above the method
            method = next((index for index, word in enumerate(inside.parts) if word.lower() not in WRAPPERS), 0) + 1
            name = PurePosixPath(part.category, *inside.parts[method:])
            belongs = self.inputs.belonging(name)
            belongs = belongs and (belongs[0], (*inside.parts[:method], *belongs[1]))
        belongs = belongs or self.inputs.belonging(PurePosixPath(*inside.parts))
        if belongs is None:
            return None
        picture, above = belongs
        folders = [word for word in above if word.lower() not in WRAPPERS and not (part and word == part.category)]
        prompt, repeat = None, 0
        if folders and folders[-1] in self.prompts:
            prompt = folders.pop()
        elif len(folders) > 1 and folders[-2] in self.prompts and (number := _REPEAT.match(folders[-1])):
            prompt, repeat = folders[-2], int(number[1])
            del folders[-2:]
        elif len(folders) > bool(self.parts) and (number := _REPEAT.match(folders[-1])):
            repeat = int(number[1])
            folders.pop()
        if len(folders) > 1 and "/" in picture.name and not path.with_suffix("").as_posix().endswith(picture.name):
            return None  # the same name, but in a folder that no input is in
        return Result("-".join(folders) or None, prompt, repeat, picture, path)


def _part(folder: Path, root: Path) -> _Part | None:
    inside = {path.name.lower().replace("_", "-"): path for path in sorted(folder.iterdir()) if path.is_dir()}
    inputs = next((inside[word] for word in INPUTS if word in inside), None)
    clean = next((inside[word] for word in CLEAN if word in inside), None)
    if inputs is None:
        return None
    return _Part(folder, inputs, clean, "" if folder == root else folder.name)


def _of_run(id: str, facts: Mapping[str, Any]) -> RestorationPrompt:
    words = list(facts.get("instructions", ()))
    return RestorationPrompt(
        id=id,
        group=str(facts.get("group") or ""),
        length=facts.get("length"),
        fidelity=facts.get("fidelity"),
        words=str(words[0]) if words else id,
    )
