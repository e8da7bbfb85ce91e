"""How light falls on things: direct, from the sky, mirrored; shadows and hollows."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.pictures.colour import smoothstep
from convergebench.images.pictures.sheet import Colours, Plane
from convergebench.images.pictures.world import Distance, Hit, Lamp, Solid, Surface, Vector, Wall, World, dot, unit

SLIGHT = 0.26
"""Radius below which things do not darken each other's hollows."""


def facing(distance: Distance, x: Plane, y: Plane, z: Plane, *, width: float) -> Vector:
    """Surface normals by differences over `width` (four probes)."""
    e = np.float32(width)
    a = distance(x + e, y - e, z - e)
    b = distance(x - e, y - e, z + e)
    c = distance(x - e, y + e, z - e)
    d = distance(x + e, y + e, z + e)
    return unit((a - b - c + d, -a - b + c + d, -a + b - c + d))


def shade(
    world: World,
    origin: Vector,
    direction: Vector,
    t: Plane,
    ids: NDArray[np.int16],
    wide: Plane,
    *,
    shape: tuple[int, int] | None = None,
) -> Colours:
    """Light coming back along each ray. `shape`: the rays are this raster, so slow terms may be worked out coarsely."""
    light = np.zeros((3, len(t)), dtype=np.float32)
    things: list[Wall | Solid] = [*world.walls, *world.solids]
    for number in np.unique(ids):
        index = np.nonzero(ids == number)[0]
        d = (direction[0][index], direction[1][index], direction[2][index])
        if number < 0:
            if world.surroundings is not None:
                light[:, index] = world.surroundings(d, 0.0)
            continue
        thing = things[number]
        x, y, z = (o[index] + v * t[index] for o, v in zip(origin, d, strict=True))
        if isinstance(thing, Wall):
            normal: Vector = tuple(np.full(len(index), n, dtype=np.float32) for n in thing.normal)  # type: ignore[assignment]
        else:
            normal = facing(thing.distance, x, y, z, width=max(0.0015, 0.5 * float(np.median(wide[index]))))
        hit = Hit(x, y, z, normal, (-d[0], -d[1], -d[2]), wide[index])
        light[:, index] = _lit(world, hit, thing, _visibility(world, hit, thing, index, shape))
    if world.haze is not None:
        air = np.where(ids >= 0, 1 - np.exp(-np.minimum(t, 1e3) * np.float32(world.haze[1])), 0.0).astype(np.float32)
        for channel in range(3):
            light[channel] += (np.float32(world.haze[0][channel]) - light[channel]) * air
    return light


def _visibility(
    world: World, hit: Hit, thing: Wall | Solid, index: NDArray[np.intp], shape: tuple[int, int] | None
) -> Plane:
    """One row for the sky, one per lamp: how much of it each point sees, 0…1."""
    if isinstance(thing, Wall) and not thing.shaded:
        return np.ones((1 + len(world.lamps), hit.count), dtype=np.float32)
    if shape is None or hit.count < 2000:
        return _seen(world, hit, thing)
    rows, columns = np.divmod(index, shape[1])
    on_grid = np.nonzero((rows % 2 == 0) & (columns % 2 == 0))[0]
    coarse = ((shape[0] + 1) // 2, (shape[1] + 1) // 2)
    cover = np.zeros(coarse, dtype=np.float32)
    cover[rows[on_grid] // 2, columns[on_grid] // 2] = 1
    weight = _doubled(cover, shape)[rows, columns]
    out = np.empty((1 + len(world.lamps), hit.count), dtype=np.float32)
    for number, values in enumerate(_seen(world, hit.part(on_grid), thing)):
        plane = np.zeros(coarse, dtype=np.float32)
        plane[rows[on_grid] // 2, columns[on_grid] // 2] = values
        out[number] = _doubled(plane, shape)[rows, columns] / np.maximum(weight, 0.05)
    lost = np.nonzero(weight < 0.2)[0]
    if len(lost):
        out[:, lost] = _seen(world, hit.part(lost), thing)
    return out


def _doubled(plane: Plane, shape: tuple[int, int]) -> Plane:
    height, width = plane.shape
    large = cv2.resize(plane, (2 * width, 2 * height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(large, dtype=np.float32)[: shape[0], : shape[1]]


def _seen(world: World, hit: Hit, thing: Wall | Solid) -> Plane:
    out = np.zeros((1 + len(world.lamps), hit.count), dtype=np.float32)
    out[0] = _open_sky(world, hit, thing)
    for row, lamp in zip(out[1:], world.lamps, strict=True):
        index = np.arange(hit.count)
        if lamp.mask is not None:
            row[:] = lamp.mask(hit.x, hit.y, hit.z)
            index = np.nonzero(row > 0.003)[0]
        else:
            row[:] = 1.0
        if lamp.shadows and len(index):
            part = hit if len(index) == hit.count else hit.part(index)
            row[index] *= _shadow(world, part, lamp.direction(part.x, part.y, part.z)[0], lamp)
    return out


def _lit(world: World, hit: Hit, thing: Wall | Solid, seen: Plane) -> Colours:
    """Direct light, sky light, bounced light and mirror light of one thing's points."""
    surface = thing.material(hit)
    if surface.bump is not None:
        hit.normal = unit(surface.bump)
    open_sky = seen[0]
    up = hit.normal[1] * np.float32(0.5) + np.float32(0.5)
    total = np.empty((3, hit.count), dtype=np.float32)
    for channel in range(3):
        fill = world.earth[channel] + (world.sky[channel] - world.earth[channel]) * up
        bounce = world.earth[channel] * (1 - open_sky) * np.float32(0.35)
        total[channel] = surface.colour[channel] * (fill * open_sky + bounce)
    for lamp, lit in zip(world.lamps, seen[1:], strict=True):
        _add_lamp(total, hit, surface, lamp, lit)
    if world.surroundings is not None and np.max(surface.gloss) > 0:
        twice = 2 * dot(hit.normal, hit.view)
        mirror = tuple(twice * n - v for n, v in zip(hit.normal, hit.view, strict=True))
        edge = np.clip(1 - 0.5 * twice, 0.0, 1.0)
        fresnel = surface.gloss + (1 - surface.gloss) * edge**5 * (1 - np.asarray(surface.rough, dtype=np.float32)) ** 2
        around = world.surroundings(mirror, surface.rough)  # type: ignore[arg-type]
        for channel in range(3):
            total[channel] += around[channel] * fresnel * open_sky
    if surface.glow is not None:
        total += surface.glow
    return total


def _add_lamp(total: Colours, hit: Hit, surface: Surface, lamp: Lamp, lit: Plane) -> None:
    to_lamp, strength = lamp.direction(hit.x, hit.y, hit.z)
    incidence = dot(hit.normal, to_lamp)
    lit = lit * strength
    half = unit((to_lamp[0] + hit.view[0], to_lamp[1] + hit.view[1], to_lamp[2] + hit.view[2]))
    rough = np.maximum(np.asarray(surface.rough, dtype=np.float32), 0.05)
    power = 2 / np.square(np.square(rough) + lamp.soft * 0.15)
    spot = np.maximum(dot(hit.normal, half), 0.0) ** power * (power + 8) / 25.0
    direct = np.maximum(incidence, 0.0)
    shine = np.asarray(surface.gloss, dtype=np.float32) * np.minimum(spot, 60.0) * direct * lit
    for channel in range(3):
        diffuse = direct
        if surface.soft:
            # red light travels furthest under a surface, so it wraps round the edge of the shadow
            wrap = np.float32(surface.soft * (0.55, 0.28, 0.18)[channel])
            diffuse = np.square(np.clip((incidence + wrap) / (1 + wrap), 0.0, 1.0)) * (1 - wrap) + direct * wrap
        total[channel] += np.float32(lamp.colour[channel]) * (surface.colour[channel] * diffuse * lit + shine)


def _open_sky(world: World, hit: Hit, thing: Wall | Solid) -> Plane:
    """How much sky reaches the points, for what stands near them."""
    closed = np.zeros(hit.count, dtype=np.float32)
    reach = world.hollow
    group, size = hit.ball()
    for solid in world.solids:
        # leaves and petals among each other: too slight to be seen, too many to be cheap
        if isinstance(thing, Solid) and solid is not thing and max(thing.radius, solid.radius) < SLIGHT:
            continue
        if np.linalg.norm(group - solid.centre) > size + solid.radius + reach:
            continue
        away = (hit.x - solid.centre[0], hit.y - solid.centre[1], hit.z - solid.centre[2])
        index = np.nonzero(dot(away, away) < (solid.radius + reach) ** 2)[0]
        if len(index):
            closed[index] += _closeness(solid.distance, hit, index, reach)
    for wall in world.walls:
        if wall is not thing and wall.shaded:
            index = np.nonzero(wall.height(hit.x, hit.y, hit.z) < 2 * reach)[0]
            if len(index):
                closed[index] += _closeness(wall.height, hit, index, 2 * reach) * np.float32(0.8)
    found: Plane = np.exp(-closed * np.float32(1.7))
    return found


def _closeness(distance: Distance, hit: Hit, index: NDArray[np.intp], reach: float) -> Plane:
    x, y, z = hit.x[index], hit.y[index], hit.z[index]
    nx, ny, nz = (part[index] for part in hit.normal)
    total = np.zeros(len(index), dtype=np.float32)
    for share, weight in ((0.16, 0.4), (0.42, 0.4), (1.0, 0.35)):
        away = np.float32(reach * share)
        gap = distance(x + nx * away, y + ny * away, z + nz * away)
        total += np.clip(1 - gap / away, 0.0, 1.3) * np.float32(weight)
    return total


def _shadow(world: World, hit: Hit, to_lamp: Vector, lamp: Lamp) -> Plane:
    """Share of the lamp seen from the points, with penumbrae that widen with distance."""
    seen = np.ones(hit.count, dtype=np.float32)
    soft = np.float32(lamp.soft)
    incidence = dot(hit.normal, to_lamp)
    facing_lamp = incidence > -0.4
    seen *= smoothstep(-0.4, 0.15, incidence)
    group, size = hit.ball()
    for solid in world.solids:
        # a thing much smaller than the lamp never hides it
        if not solid.casts or solid.radius < 0.5 * lamp.soft or _clear(group, size, solid, lamp):
            continue
        cx, cy, cz = (np.float32(c) - p for c, p in zip(solid.centre, (hit.x, hit.y, hit.z), strict=True))
        along = cx * to_lamp[0] + cy * to_lamp[1] + cz * to_lamp[2]
        aside = cx * cx + cy * cy + cz * cz - along * along
        radius = solid.radius + soft * np.maximum(along + np.float32(solid.radius), 0.0)
        index = np.nonzero((aside < radius * radius) & (along > -radius) & facing_lamp & (seen > 0.01))[0]
        if len(index):
            seen[index] *= _penumbra(solid, hit, to_lamp, index, along[index], soft)
    return seen


def _clear(group: Plane, size: float, solid: Solid, lamp: Lamp) -> bool:
    """Whether a solid cannot stand between a group of points and a lamp."""
    # rays from the group to a near lamp draw together, so the group's size bounds them there too
    axis = np.array(lamp.towards) if lamp.at is None else np.array(lamp.at) - group
    axis = axis / max(float(np.linalg.norm(axis)), 1e-6)
    away = np.array(solid.centre) - group
    along = float(away @ axis)
    aside = float(np.sqrt(max(0.0, float(away @ away) - along * along)))
    wide = size + solid.radius + lamp.soft * max(0.0, along + size + solid.radius)
    return aside > wide or along < -(size + solid.radius)


def _penumbra(
    solid: Solid, hit: Hit, to_lamp: Vector, index: NDArray[np.intp], along: Plane, soft: np.float32
) -> Plane:
    shape = solid.silhouette or solid.distance
    lift = np.float32(0.02)
    x, y, z = (p[index] + n[index] * lift for p, n in zip((hit.x, hit.y, hit.z), hit.normal, strict=True))
    dx, dy, dz = (part[index] for part in to_lamp)
    radius = np.float32(solid.radius)
    t = np.maximum(along - radius * np.float32(1.02), np.float32(0.02))
    end = along + radius
    least = np.ones(len(index), dtype=np.float32)
    alive = np.arange(len(index))
    stride = radius * np.float32(0.26)
    for _ in range(10):
        distance = shape(x + dx * t, y + dy * t, z + dz * t)
        narrowest = np.minimum(least[alive], distance / (soft * t + np.float32(0.004)))
        least[alive] = narrowest
        t = t + np.clip(distance * np.float32(0.8), radius * np.float32(0.03), stride)
        keep = (t < end) & (narrowest > -1)
        alive, t, end = alive[keep], t[keep], end[keep]
        if not len(alive):
            break
        x, y, z, dx, dy, dz = (part[keep] for part in (x, y, z, dx, dy, dz))
    return smoothstep(-1.0, 1.0, np.maximum(least, -1.0))
