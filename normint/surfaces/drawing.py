"""Draw what the generated scenes show: grounds, and objects of every kind on them."""

from functools import cached_property

import numpy as np

from normint.domain import NEIGHBOURS
from normint.surfaces import shapes
from normint.surfaces.layers import CONTACT, Layers, join, placed

SIZE = 128  # all lengths here are pixels of a scene of this many rows and columns
HIGHEST = 45.0  # larger jumps are drawn anew
CENTRES = (np.arange(SIZE) + 0.5)[:, np.newaxis], (np.arange(SIZE) + 0.5)[np.newaxis]


def draw(kind, rng, mask, floating):
    """Draw a scene with jumps.

    Parameters
    ----------
    kind : str
    rng : numpy.random.Generator
    mask : ndarray of bool
        SIZE×SIZE pixels.
    floating : bool
        Whether something may be cut off from the rest by jumps on all sides. If not, each component of the
        mask is one piece.

    Returns
    -------
    Layers
    """
    layers = ground(rng, level=kind in ("steps", "ramps", "thin"))
    look = _Look(layers, mask)
    pieces = look.pieces.max() + 1
    wanted, count = 1 + rng.binomial(5, 0.5), 0
    for _ in range(30 * wanted):
        loose = floating and count == wanted - 1
        new = _Look(_OBJECTS[kind](rng, look.layers, loose), mask)
        if not new.shows_more(look) or not 3 <= new.highest <= HIGHEST:
            continue
        if loose:
            accepted = np.bincount(new.pieces[mask])[1:].max(initial=0) > 40
        else:
            # A surface that hangs together by a single pixel is in one piece, but no method could tell.
            attached = new.contacts - look.contacts >= (2 if kind == "thin" else 6)
            accepted = floating or (attached and new.pieces.max() + 1 == pieces)
        if accepted:
            look, count = new, count + 1
        if count == wanted:
            break
    return look.layers


def ground(rng, level=False):
    """Draw a smooth ground: a tilted plane with hills or a wave."""
    tilt = rng.uniform(0.02, 0.3) if level else rng.uniform(0.15, 0.75)
    layers = [_turned(rng, shapes.plane(tilt, 0.0), (64, 64))]
    for _ in range(rng.integers(0, 3)):
        radius = rng.uniform(15, 40)
        height = rng.choice([-1, 1]) * rng.uniform(0.1, 0.8) * radius
        layers.append(_turned(rng, shapes.hill(height, radius, radius * rng.uniform(0.6, 1.6)), _where(rng)))
    if rng.random() < 0.3:
        length = rng.uniform(40, 90)
        layers.append(_turned(rng, shapes.wave(rng.uniform(0.1, 0.4) * length / 6, length), (64, 64)))
    return Layers(tuple(layers))


def smooth(rng):
    """Draw a surface without any discontinuity, of a largest slope between 0.2 and 5."""
    style = rng.integers(4)
    if style == 0:
        radii = rng.uniform(10, 35, (6, 2))
        layers = [_turned(rng, shapes.hill(rng.uniform(-1, 1) * r.min(), *r), _where(rng)) for r in radii]
    elif style == 1:
        layers = [_turned(rng, shapes.wave(k, 6 * k), (64, 64)) for k in rng.uniform(4, 14, 3)]
    elif style == 2:  # a dome, larger than the picture
        layers = [_turned(rng, shapes.ellipsoid(*rng.uniform(95, 140, 2), 80.0), (64, 64))]
    else:
        layers = [_turned(rng, shapes.wave(8.0, rng.uniform(40, 120)), (64, 64)), *ground(rng).ground]
    layers = Layers(tuple(layers))
    _, p, q, _ = layers.see(*CENTRES)
    factor = _between(rng, 0.2, 5.0) / np.hypot(p, q).max()
    return Layers(tuple(_scaled(layer, factor) for layer in layers.ground))


def kinks(rng):
    """Draw a surface with creases and no jump: folded sheets, roofs and pyramids on a ground."""
    layers = ground(rng, level=True)
    folded = rng.random() < 0.5
    if folded:
        slopes = _between(rng, 0.2, 2.5, rng.integers(1, 3))
        folds = [_turned(rng, shapes.fold(slope, rng.uniform(15, 60)), (64, 64)) for slope in slopes]
        layers = Layers((*layers.ground, *folds))
    for _ in range(rng.integers(1, 3) if folded else rng.integers(3, 7)):
        slope, length, width = _between(rng, 0.2, 5.0), *rng.uniform(8, 26, 2)
        gable = slope if rng.random() < 0.4 else _between(rng, 0.2, 5.0)
        shape = shapes.roof(slope, gable, length, length if rng.random() < 0.3 else width)
        layers = _before(rng, layers, shape, _where(rng), 0.0)
    return layers


def _step(rng, layers, loose):
    throw = rng.choice([-1, 1]) * _between(rng, 3, 40)
    length = rng.uniform(30, 80)
    end = rng.choice([np.inf, 2 * length * rng.uniform(0.8, 1.2)])
    reach = rng.choice([np.inf, rng.uniform(30, 90)])
    bend = rng.choice([0.0, rng.uniform(2, 8)])
    centre, angle = rng.uniform(15, 113, 2), rng.uniform(0, 360)
    if loose:  # the fault crosses the whole image
        length, end = 1.0, np.inf
        centre = centre - 200 * np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    layer = placed(shapes.fault(throw, length, end, reach, bend), centre, angle)
    return Layers(layers.ground, (*layers.displaced, layer), layers.bodies)


def _ramp(rng, layers, loose):
    height = rng.choice([-1, 1], p=[0.35, 0.65]) * _between(rng, 3, 40)
    length = np.clip(abs(height) / _between(rng, 0.1, 5), 10, 80)
    shape = shapes.ramp(
        height, length, rng.uniform(8, 40), rng.uniform(-0.6, 0.8), rng.uniform(-0.8, 0.8),
        rng.choice([0.0, rng.uniform(0.2, 0.5)]),
    )  # fmt: skip
    if loose:
        shape = _lifted(shape, rng.choice([-1, 1]) * _between(rng, 3, 20))
    layer = _turned(rng, shape, _where(rng))
    return Layers(layers.ground, (*layers.displaced, layer), layers.bodies)


def _body(rng, layers, loose):
    style, centre = rng.integers(3), _where(rng)
    if style == 0:
        shape, lift = shapes.ellipsoid(*[radius := rng.uniform(7, 26)] * 3), rng.uniform(-0.6, 0.5) * radius
    elif style == 1:
        radius, slope = rng.uniform(7, 24), _between(rng, 0.3, 3)
        shape, lift = shapes.cone(slope, radius), rng.uniform(-0.8, 0.5) * radius
    else:
        length, tilt = rng.uniform(12, 60), _between(rng, 0.1, 1.2)
        shape = shapes.board(tilt, rng.normal(0, 0.3), length, rng.uniform(10, 40))
        lift = tilt * length / 2 * rng.uniform(0.0, 0.8)
    return _before(rng, layers, shape, centre, lift + loose * rng.uniform(5, 20))


def _contour(rng, layers, loose):
    if rng.random() < 0.6:
        along, across = rng.uniform(8, 32, 2)
        deep = np.sqrt(along * across) * rng.uniform(0.4, 1.1)
        shape, lift = shapes.ellipsoid(along, across, deep), rng.uniform(-0.6, 0.4) * deep
    else:
        length, slope = rng.uniform(25, 80), _between(rng, 0.1, 0.9)
        shape = shapes.cylinder(rng.uniform(4, 14), length, slope)
        lift = slope * length / 2 * rng.uniform(-0.2, 0.8)
    return _before(rng, layers, shape, _where(rng), lift + loose * rng.uniform(5, 20))


def _thin(rng, layers, loose):
    style, angle, lift = rng.integers(3), rng.uniform(0, 360), loose * rng.uniform(3, 12)
    start, width = _where(rng), rng.uniform(2, 4)
    height, length = _between(rng, 3, 25), rng.uniform(30, 90)
    along = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    across = np.array([-along[1], along[0]])
    bar = _lifted(shapes.ramp(height, length, width, landing=rng.uniform(0.2, 0.8)), lift)
    if style == 0:  # one bar
        parts = [placed(bar, start, angle)]
    elif style == 1:  # a wire
        slope = _between(rng, 0.1, 0.6)
        wire = _lifted(shapes.cylinder(rng.uniform(1, 2), length, slope), slope * length / 2 - 1 + lift)
        parts = [placed(wire, start, angle)]
    else:  # a fence, or a comb if it has no rail
        gap, number = rng.uniform(8, 20), rng.integers(2, 6)
        bar = _lifted(shapes.ramp(height, length, width, landing=0.6), lift)
        parts = [placed(bar, start + k * gap * across, angle) for k in range(number)]
        if rng.random() < 0.6:
            span = (number - 1) * gap
            rail = _lifted(shapes.board(0.0, 0.0, width, span + rng.uniform(2, 10)), height + lift)
            middle = start + length * rng.uniform(0.5, 0.9) * along + span / 2 * across
            parts.append(placed(rail, middle, angle))
    bodies = tuple(_upon(layers.ground, part) for part in parts)
    return Layers(layers.ground, layers.displaced, (*layers.bodies, *bodies))


def _mixed(rng, layers, loose):
    return (_step, _ramp, _body, _contour)[rng.integers(4)](rng, layers, loose)


_OBJECTS = {
    "steps": _step, "ramps": _ramp, "bodies": _body, "contours": _contour, "thin": _thin, "mixed": _mixed,
}  # fmt: skip


class _Look:
    """What a scene looks like, as far as it decides whether to keep what was drawn."""

    def __init__(self, layers, mask):
        self.layers, self.mask = layers, mask
        self.depth, _, _, self.number = layers.see(*CENTRES)

    def shows_more(self, old):
        """Tell whether what was added to the old scene is seen."""
        return np.count_nonzero(self.mask & (np.abs(self.depth - old.depth) > 0.5)) >= 40

    @cached_property
    def jumps(self):
        return self.layers.jumps(*CENTRES, self.number)

    @cached_property
    def highest(self):
        return max(jump[self.mask].max() for jump in self.jumps)

    @cached_property
    def pieces(self):
        return join(self.mask, self.jumps)

    @cached_property
    def contacts(self):
        """The number of neighbours that show two things which touch."""
        count, number, mask = 0, self.number, self.mask
        for jump, (here, there) in zip(self.jumps, NEIGHBOURS, strict=True):
            touch = (number[here] != number[there]) & mask[here] & mask[there] & (jump[here] < CONTACT)
            count += np.count_nonzero(touch)
        return count


def _before(rng, layers, shape, centre, lift):
    """Add a body at some height over the ground."""
    body = _turned(rng, shape, centre, _height(layers, centre) + lift)
    return Layers(layers.ground, layers.displaced, (*layers.bodies, body))


def _upon(ground, layer):
    """Return the layer as a body whose height is measured from the ground."""

    def body(u, v):
        z, p, q, inside = layer(u, v)
        for part in ground:
            z_part, p_part, q_part, _ = part(u, v)
            z, p, q = z + z_part, p + p_part, q + q_part
        return z, p, q, inside

    return body


def _lifted(shape, height):
    def lifted(s, t):
        z, *rest = shape(s, t)
        return z + height, *rest

    return lifted


def _scaled(layer, factor):
    def scaled(u, v):
        z, p, q, inside = layer(u, v)
        return factor * z, factor * p, factor * q, inside

    return scaled


def _turned(rng, shape, centre, height=0.0):
    return placed(shape, centre, rng.uniform(0, 360), height)


def _where(rng):
    return rng.uniform(18, 110, 2)


def _height(layers, centre):
    return float(layers.see(np.array(centre[0]), np.array(centre[1]))[0])


def _between(rng, low, high, size=None):
    """Draw numbers whose logarithm is uniform."""
    return np.exp(rng.uniform(np.log(low), np.log(high), size))
