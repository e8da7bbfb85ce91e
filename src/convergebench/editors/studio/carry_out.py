"""From a task to the step that does it."""

from __future__ import annotations

import numpy as np

from convergebench.editors.simulated.geometry import transform
from convergebench.editors.studio import backgrounds, framing, lettering, objects, people, styles, tones, weather
from convergebench.editors.studio.answer import StudioAnswer
from convergebench.editors.studio.scene import StudioScene
from convergebench.editors.studio.task import StudioTask


def carry_out(scene: StudioScene, task: StudioTask, random: np.random.Generator) -> StudioAnswer:
    """The picture after the task; `Refused` with the reason if it cannot be done."""
    pixels = scene.pixels
    match task.step:
        case "turn":
            return StudioAnswer(transform(pixels, task.variant), moved=True)  # type: ignore[arg-type]  # read as one
        case "tone":
            return StudioAnswer(tones.toned(pixels, task.variant))
        case "film":
            return StudioAnswer(tones.filmed(pixels, random))
        case "era":
            return StudioAnswer(tones.modern(pixels) if task.variant == "modern" else tones.aged(pixels, random))
        case "light":
            return StudioAnswer(tones.lit(pixels, task.variant, task.place))
        case "weather":
            return StudioAnswer(weather.weathered(pixels, task.variant, random))
        case "season":
            return StudioAnswer(weather.seasoned(pixels, task.variant, random))
        case "style" | "drawing":
            return StudioAnswer(styles.styled(pixels, task.variant, random))
        case "background":
            return backgrounds.new_background(scene, task, random)
        case "person":
            return people.person(scene, task, random)
        case "expression":
            return people.express(scene, task)
    return _on_a_part(scene, task)


def _on_a_part(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    steps = {
        "add": objects.add,
        "remove": objects.remove,
        "replace": objects.replace,
        "recolour": objects.recolour,
        "clothes": objects.recolour,
        "move": objects.move,
        "reshape": objects.reshape,
        "zoom": framing.zoom,
        "extend": framing.extend,
        "add-text": lettering.add_text,
        "replace-text": lettering.replace_text,
        "restyle-text": lettering.restyle_text,
        "translate": lettering.translate,
    }
    return steps[task.step](scene, task)
