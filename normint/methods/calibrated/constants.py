"""The constants of the calibrated method: fixed once, for all data, each with its reason.

Here is all that says what data are like or how long to search, in one record for each stage. What only guards
the arithmetic, such as the weight of a cut edge, stands where it is used.
"""

from dataclasses import dataclass
from typing import NamedTuple

from normint import inputs

__all__ = ["CONSTANTS", "Constants"]


class Noise(NamedTuple):
    """How the noise of the slopes is measured."""

    # The noise is at least this part of the slopes' mean absolute deviation from their median: rounding, and
    # what a surface does between two pixels, are noise too.
    floor: float = 0.005
    # The side, in pixels, of the square around each pixel over which the noise is measured: enough pixels for
    # a median, few enough to follow it.
    window: int = 31
    # Squares in a window, with fewer of which a median says too little: the whole image's is taken.
    fewest: int = 30
    # Times the noise: if half the difference of opposite curls around a pixel exceeds it, its slopes are
    # wrong. Of noise alone, one in some ten thousand would be.
    wild: float = 5.0


class Prediction(NamedTuple):
    """How the step of each edge is predicted from the slopes."""

    # Standard deviations beyond which a difference of slopes is not noise.
    significant: float = 3.0
    # The part by which the third slope from a contour may differ from that of a square root, and what lies
    # behind from a plane.
    contour_profile: float = 0.25
    # How far real contours are from square roots, in parts of the slope's rise.
    contour_error: float = 0.1
    # Edges beside a contour whose steps are those of a square root; further inside, means are as good.
    contour_edges: int = 3


class Price(NamedTuple):
    """When an edge is given up, and what that costs."""

    # Standard deviations at which an edge of price 1 is half given up: 3, beyond which noise hardly goes.
    width: float = 3.0
    # Standard deviations beyond which an edge is cut in the last fit: twice the width, and √2 times as much,
    # since noise alone makes the residual of an edge that is left out so much larger. What was cut comes back
    # then if it was noise.
    last_width: float = 8.5
    # What cutting an edge costs where the slope changes abruptly, at a kink or a contour; 1 elsewhere. Where
    # one body hides another, the slopes of both differ: there a discontinuity is more likely.
    bend_price: float = 0.5
    # The price of an edge whose step could be anything.
    least_price: float = 0.02


class Descent(NamedTuple):
    """Where the search starts, and how a surface cools down."""

    # The largest λ while it is hot: strong control points would tear the surface around them.
    gentle: float = 0.1
    # Pixels of the largest image that does not start with what its half leads to: 64×64 pixels still show
    # most things, and there are few places to search.
    whole: int = 2**12
    # Pixels of the largest image that starts with least squares, too. A larger one has its half alone: what
    # it decides differently is in the details, and these are found by moves.
    large: int = 2**18
    # The factor from one temperature to the next. Slower cooling finds nothing better.
    cooling: float = 1.5
    # The same when a surface is polished after its pieces have moved.
    last_cooling: float = 2.5
    # The temperature, in σ, below which it is taken for zero: it hardly changes the variances then.
    coldest: float = 0.1
    # The temperature, in σ, from which a surface is polished: as high as what is half given up, so that edges
    # beside one that has moved are looked at again, and no others.
    reheat: float = 3.0
    # Relative residual of the linear systems on the way, each for the change from one depth to the next:
    # another one follows.
    tolerance: float = 1e-2


class Fusion(NamedTuple):
    """When neighbours move together while two depths are fused."""

    # x up to which an edge agrees with the first depth: within two deviations, as nearly all of noise are.
    fuse_agrees: float = 0.5
    # x up to which two depths differ by the same at both ends of an edge: much less than that.
    fuse_equal: float = 0.05


class Dividing(NamedTuple):
    """How a surface is divided into pieces."""

    # Pixels; over so many edges a bent surface betrays itself although each edge is within the noise.
    box: int = 5
    # Standard deviations that the mean residual of a box may lie off zero: in a large image there are many
    # boxes, and 3 would be exceeded by chance.
    doubt: float = 4.0
    # A passage narrower than this part of the smaller of two pieces separates them: somewhat more than half,
    # so that a neck does, and a waist does not.
    narrow: float = 0.6


class PieceMoves(NamedTuple):
    """Which pieces are moved together, and where to."""

    # Edges that agree with nothing, added to each common boundary, so that a single edge does not join two
    # pieces.
    shared: float = 4.0
    # The least part of a common boundary that must agree for two pieces to be moved together.
    least_agreement: float = 0.02
    # Of groups of pieces, each with little more than the one before, the factor between two that are looked
    # at: so little that no move is missed.
    growth: float = 1.1
    # Offsets tried for a piece: those that most of its boundary agrees on.
    hypotheses: int = 3
    # Trees of pieces made in one round, at most; the first finds nearly all.
    sweeps: int = 6
    # Pieces whose outline is sought by a minimum cut in one round, at most, since that takes time.
    prospects: int = 2
    # The least pixels that such a piece has: smaller ones are moved by moving cuts.
    prospect_pixels: int = 30
    # Times the least gain that the edges which gain must promise for that.
    promise: float = 5.0
    # The part by which size and offset of a piece may differ from one that was tried in vain, which is then
    # not tried again.
    alike: float = 0.1


class CutMoves(NamedTuple):
    """How far discontinuities are moved."""

    # x from which an edge is a discontinuity that may be moved sideways: twice the width.
    jump: float = 4.0
    # Pixels on either side of it that may change sides. Those further away need another round.
    reach: int = 8
    # Pixels by which the outline of a piece that moves may change: more, since pieces are coarse.
    outline: int = 12


class Rounds(NamedTuple):
    """When to stop moving."""

    # How many edges' worth of energy the move of a piece must gain: a single pixel has four edges.
    least_gain: float = 2.0
    # The part of what all rounds have gained that a round must gain to be followed by another: by the edge
    # alone, large images would go on for little.
    least_share: float = 0.05
    # Of moves and polishing, at most; few surfaces need more than four.
    rounds: int = 10


@dataclass(frozen=True)
class Constants:
    """What the calibrated method takes for granted, in the order of its stages."""

    noise: Noise = Noise()
    prediction: Prediction = Prediction()
    price: Price = Price()
    descent: Descent = Descent()
    fusion: Fusion = Fusion()
    dividing: Dividing = Dividing()
    piece_moves: PieceMoves = PieceMoves()
    cut_moves: CutMoves = CutMoves()
    rounds: Rounds = Rounds()

    def __post_init__(self):
        for stage in vars(self).values():
            for name, value in stage._asdict().items():
                inputs.as_positive(name, value)


CONSTANTS = Constants()
