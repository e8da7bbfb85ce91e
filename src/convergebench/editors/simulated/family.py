"""The simulated editors by name, and the factories that make them from options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from convergebench import ids
from convergebench.editors.simulated.editor import EditorBehaviour, SimulatedEditor
from convergebench.editors.simulated.mistakes import OPTIONS as MISTAKES
from convergebench.editors.simulated.mistakes import read_mistakes
from convergebench.editors.simulated.options import ChoiceOption, NumberOption, Option, Value, read_options
from convergebench.editors.simulated.wear import KINDS, read_wear
from convergebench.errors import StudyError

VERSION = 1
"""Incremented whenever a simulated editor's pixels change; part of every fingerprint."""


@dataclass(frozen=True, slots=True)
class SimulatedModel:
    """The definition of a named editor: its kind of wear (or none), how it removes objects, further options."""

    summary: str
    wear: str | None = None
    remove: str = "inpaint"
    extra: Mapping[str, Option] = field(default_factory=dict)
    open: bool = False
    """Accepts a list of wears."""

    @property
    def options(self) -> dict[str, Option]:
        """All options except the list of wears."""
        remove = ChoiceOption(self.remove, ("remember", "inpaint"))
        return {"remove": remove, **(KINDS[self.wear].options if self.wear else {}), **self.extra}


_LATER: dict[str, Option] = {
    "additions": ChoiceOption("plain", ("plain", "fresh", "worn")),
    "notices": NumberOption(0, 0, 100_000, whole=True),
    **MISTAKES,
}
"""Options that were added later: if off, they are not in the fingerprint, so that older runs can be extended."""
_JPEG_OUT: dict[str, Option] = {"output": ChoiceOption("jpeg", ("jpeg", "png"))}
_RATES: dict[str, Option] = {
    "transient": NumberOption(0.2, 0, 1),
    "refused": NumberOption(0.05, 0, 1),
    "retry_after": NumberOption(0.0, 0, 60),
}
_MISCOUNTING: dict[str, Option] = {
    "skip_from": NumberOption(4, 1, 100_000, whole=True),
    "skip_for": MISTAKES["skip_for"],
    "row_at": NumberOption(7, 1, 100_000, whole=True),
    "row_of": MISTAKES["row_of"],
}
_REPLACING: dict[str, Option] = {"replace_every": NumberOption(3, 1, 100_000, whole=True)}
_TURNLESS: dict[str, Option] = {"unturned": NumberOption(0.5, 0, 1), "wrong_turn": NumberOption(0.25, 0, 1)}
_FREE: dict[str, Option] = {"output": ChoiceOption("png", ("png", "jpeg")), **_LATER}
MODELS: dict[str, SimulatedModel] = {
    "sim-perfect": SimulatedModel("does exactly what is asked", remove="remember"),
    "sim-jpeg": SimulatedModel("saves as JPEG at every step", "jpeg", extra=_JPEG_OUT),
    "sim-resize": SimulatedModel("downscales and upscales at every step", "resize"),
    "sim-noise": SimulatedModel("adds independent noise", "noise", "remember"),
    "sim-tint": SimulatedModel("adds a constant green cast at every step", "tint", "remember"),
    "sim-blur": SimulatedModel("softens texture", "blur"),
    "sim-crop": SimulatedModel("crops to the aspect ratios it supports", "crop"),
    "sim-scatter": SimulatedModel("scatters dots over the image", "scatter"),
    "sim-wrinkle": SimulatedModel("makes outlines wavy", "wrinkle"),
    "sim-simplify": SimulatedModel("flattens texture into patches", "simplify"),
    "sim-forgetful": SimulatedModel(
        "ignores some instructions and claims success", extra={"ignores": NumberOption(0.3, 0, 1)}
    ),
    "sim-contracting": SimulatedModel("moves every image towards one colour", "contract", "remember"),
    "sim-cycle": SimulatedModel("rotates the three colour channels", "cycle", "remember"),
    "sim-flaky": SimulatedModel("perfect, but often busy and sometimes refuses", None, "remember", _RATES),
    "sim-miscounting": SimulatedModel("skips additions, then adds several at once", None, "remember", _MISCOUNTING),
    "sim-replacing": SimulatedModel("replaces some old objects when adding new ones", None, "remember", _REPLACING),
    "sim-turnless": SimulatedModel("often does not mirror or rotate, and claims it did", None, "remember", _TURNLESS),
    "sim": SimulatedModel("degradations and mistakes of your choice", extra=_FREE, open=True),
}


def make(base: str, name: str, given: Mapping[str, object]) -> SimulatedEditor:
    """Create the editor `base` under `name`, which must start with `sim` so that it is not mistaken for a model."""
    if not (name == "sim" or name.startswith("sim-")):
        raise StudyError(f"a simulated editor's name starts with 'sim-': call '{name}' 'sim-{name}'")
    model = MODELS[base]
    rest = dict(given)
    listed = rest.pop("wear", ()) if model.open else ()
    if not isinstance(listed, list | tuple):
        raise StudyError(
            f"option 'wear' of {name} is a list of tables, such as [{{kind = 'jpeg', quality = 60}}], not {listed!r}"
        )
    options = read_options(name, model.options, rest)
    wears = tuple(read_wear(name, wear) for wear in listed)
    if model.wear is not None:
        wears = ({"kind": model.wear, **{key: options[key] for key in KINDS[model.wear].options}},)
    known = {key: value for key, value in options.items() if key not in _LATER or value != _LATER[key].default}
    fingerprint = ids.fingerprint(base, VERSION, {**known, "wears": list(wears)})
    wears, quality = _output(wears, options)
    return SimulatedEditor(name, fingerprint, wears=wears, behaviour=_behaviour(options, quality))


def _output(
    wears: tuple[dict[str, object], ...], options: Mapping[str, Value]
) -> tuple[tuple[dict[str, object], ...], int | None]:
    """The JPEG quality of the output, if any, and the other wears: a final JPEG wear becomes the output format."""
    if options.get("output", "png") != "jpeg":
        return wears, None
    if wears and wears[-1]["kind"] == "jpeg":
        quality = wears[-1]["quality"]
        assert isinstance(quality, int)
        return wears[:-1], quality
    return wears, 95


def _behaviour(options: Mapping[str, Value], quality: int | None) -> EditorBehaviour:
    def rate(name: str) -> float:
        return float(options.get(name, 0.0))

    return EditorBehaviour(
        remember=options["remove"] == "remember",
        jpeg_quality=quality,
        forgets=rate("ignores"),
        fails=rate("transient"),
        refuses=rate("refused"),
        retry_after=rate("retry_after"),
        mistakes=read_mistakes(options),
        additions=options.get("additions", "plain"),  # type: ignore[arg-type]  # read as one of its words
        notices=int(options.get("notices", 0)),
    )


def _factory(base: str) -> Callable[..., SimulatedEditor]:
    def factory(name: str, **options: object) -> SimulatedEditor:
        return make(base, name, options)

    factory.__name__ = base.replace("-", "_")
    factory.__doc__ = f"`{base}`: {MODELS[base].summary}."
    return factory


sim = _factory("sim")
sim_perfect = _factory("sim-perfect")
sim_jpeg = _factory("sim-jpeg")
sim_resize = _factory("sim-resize")
sim_noise = _factory("sim-noise")
sim_tint = _factory("sim-tint")
sim_blur = _factory("sim-blur")
sim_crop = _factory("sim-crop")
sim_scatter = _factory("sim-scatter")
sim_wrinkle = _factory("sim-wrinkle")
sim_simplify = _factory("sim-simplify")
sim_forgetful = _factory("sim-forgetful")
sim_contracting = _factory("sim-contracting")
sim_cycle = _factory("sim-cycle")
sim_flaky = _factory("sim-flaky")
sim_miscounting = _factory("sim-miscounting")
sim_replacing = _factory("sim-replacing")
sim_turnless = _factory("sim-turnless")
