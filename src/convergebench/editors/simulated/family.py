"""The simulated editors by name, and the factories that make them from options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from convergebench import ids
from convergebench.editors.simulated.editor import Habits, SimulatedEditor
from convergebench.editors.simulated.mistakes import OPTIONS as MISTAKES
from convergebench.editors.simulated.mistakes import read_mistakes
from convergebench.editors.simulated.options import Choice, Number, Option, Value, read_options
from convergebench.editors.simulated.wear import KINDS, read_wear
from convergebench.errors import StudyError

VERSION = 1
"""Raised whenever a simulated editor's pixels would change; part of every fingerprint."""


@dataclass(frozen=True, slots=True)
class Model:
    """What a name stands for: one kind of wear (or none), how it removes, further options."""

    summary: str
    wear: str | None = None
    remove: str = "inpaint"
    extra: Mapping[str, Option] = field(default_factory=dict)
    open: bool = False
    """Takes a list of wears."""

    @property
    def options(self) -> dict[str, Option]:
        """Every option but the list of wears."""
        remove = Choice(self.remove, ("remember", "inpaint"))
        return {"remove": remove, **(KINDS[self.wear].options if self.wear else {}), **self.extra}


_LATER: dict[str, Option] = {
    "additions": Choice("plain", ("plain", "fresh", "worn")),
    "notices": Number(0, 0, 100_000, whole=True),
    **MISTAKES,
}
"""Options that came later: where they are off they stay out of the fingerprint, so that older runs can grow."""
_JPEG_OUT: dict[str, Option] = {"output": Choice("jpeg", ("jpeg", "png"))}
_RATES: dict[str, Option] = {
    "transient": Number(0.2, 0, 1),
    "refused": Number(0.05, 0, 1),
    "retry_after": Number(0.0, 0, 60),
}
_MISCOUNTING: dict[str, Option] = {
    "skip_from": Number(4, 1, 100_000, whole=True),
    "skip_for": MISTAKES["skip_for"],
    "row_at": Number(7, 1, 100_000, whole=True),
    "row_of": MISTAKES["row_of"],
}
_REPLACING: dict[str, Option] = {"replace_every": Number(3, 1, 100_000, whole=True)}
_TURNLESS: dict[str, Option] = {"unturned": Number(0.5, 0, 1), "wrong_turn": Number(0.25, 0, 1)}
_FREE: dict[str, Option] = {"output": Choice("png", ("png", "jpeg")), **_LATER}
MODELS: dict[str, Model] = {
    "sim-perfect": Model("does what is asked and nothing else", remove="remember"),
    "sim-jpeg": Model("saves as JPEG at every step", "jpeg", extra=_JPEG_OUT),
    "sim-resize": Model("shrinks and enlarges at every step", "resize"),
    "sim-noise": Model("adds independent static", "noise", "remember"),
    "sim-tint": Model("shifts towards green by a constant", "tint", "remember"),
    "sim-blur": Model("softens texture", "blur"),
    "sim-crop": Model("cuts to the aspect ratios it knows", "crop"),
    "sim-scatter": Model("throws points over the picture", "scatter"),
    "sim-wrinkle": Model("ripples outlines", "wrinkle"),
    "sim-simplify": Model("melts texture into flat patches", "simplify"),
    "sim-forgetful": Model("ignores some instructions and claims success", extra={"ignores": Number(0.3, 0, 1)}),
    "sim-contracting": Model("pulls every picture towards one colour", "contract", "remember"),
    "sim-cycle": Model("turns the colour channels in a ring of three", "cycle", "remember"),
    "sim-flaky": Model("perfect, but often busy and sometimes unwilling", None, "remember", _RATES),
    "sim-miscounting": Model("leaves additions out, then adds a row", None, "remember", _MISCOUNTING),
    "sim-replacing": Model("puts some new things in place of old ones", None, "remember", _REPLACING),
    "sim-turnless": Model("often does not mirror or turn and claims it did", None, "remember", _TURNLESS),
    "sim": Model("wears and mistakes of your choice", extra=_FREE, open=True),
}


def make(base: str, name: str, given: Mapping[str, object]) -> SimulatedEditor:
    """The editor `base` under a name of its own. The name starts with `sim`, so that nobody takes it for a model."""
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
    return SimulatedEditor(name, fingerprint, wears=wears, habits=_habits(options, quality))


def _output(
    wears: tuple[dict[str, object], ...], options: Mapping[str, Value]
) -> tuple[tuple[dict[str, object], ...], int | None]:
    """Answering with JPEG replaces a last wear by JPEG: saving twice would wear twice."""
    if options.get("output", "png") != "jpeg":
        return wears, None
    if wears and wears[-1]["kind"] == "jpeg":
        quality = wears[-1]["quality"]
        assert isinstance(quality, int)
        return wears[:-1], quality
    return wears, 95


def _habits(options: Mapping[str, Value], quality: int | None) -> Habits:
    def rate(name: str) -> float:
        return float(options.get(name, 0.0))

    return Habits(
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
