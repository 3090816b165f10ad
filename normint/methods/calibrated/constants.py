"""The constants of the calibrated method: fixed once, for all data, each with its reason.

Here is all that says what data are like or how long to search. What only guards the arithmetic, such as the
weight of a cut edge, stands where it is used.
"""

from dataclasses import dataclass

from normint import inputs

__all__ = ["CONSTANTS", "Constants"]


@dataclass(frozen=True)
class Constants:
    """What the calibrated method takes for granted.

    Attributes
    ----------
    floor : float
        The noise is taken to be at least this part of the slopes' mean absolute deviation from their median:
        rounding, and what a surface does between two pixels, are noise too.
    window : int
        The side, in pixels, of the square around each pixel over which the noise is measured: enough pixels
        for a median, few enough to follow it.
    fewest : int
        Squares in a window, with fewer of which a median says too little: the whole image's is taken.
    wild : float
        Times the noise: if half the difference of opposite curls around a pixel exceeds it, its slopes are
        wrong. Of noise alone, one in some ten thousand would be.
    significant : float
        Standard deviations beyond which a difference of slopes is not noise.
    contour_profile : float
        The part by which the third slope from a contour may differ from that of a square root, and what lies
        behind from a plane.
    contour_error : float
        How far real contours are from square roots, in parts of the slope's rise.
    contour_edges : int
        Edges beside a contour whose steps are those of a square root; further inside, means are as good.
    width : float
        Standard deviations at which an edge of price 1 is half given up: 3, beyond which noise hardly goes.
    last_width : float
        Standard deviations beyond which an edge is cut in the last fit: twice the width, and √2 times as
        much, since noise alone makes the residual of an edge that is left out so much larger. What was cut
        comes back then if it was noise.
    bend_price : float
        What cutting an edge costs where the slope changes abruptly, at a kink or a contour; 1 elsewhere.
        Where one body hides another, the slopes of both differ: there a discontinuity is more likely.
    least_price : float
        The price of an edge whose step could be anything.
    gentle : float
        The largest λ while it is hot: strong control points would tear the surface around them.
    whole : int
        Pixels of the largest image that does not start with what its half leads to: 64×64 pixels still show
        most things, and there are few places to search.
    large : int
        Pixels of the largest image that starts with least squares, too. A larger one has its half alone:
        what it decides differently is in the details, and these are found by moves.
    cooling : float
        The factor from one temperature to the next. Slower cooling finds nothing better.
    last_cooling : float
        The same when a surface is polished after its pieces have moved.
    coldest : float
        The temperature, in σ, below which it is taken for zero: it hardly changes the variances then.
    reheat : float
        The temperature, in σ, from which a surface is polished: as high as what is half given up, so that
        edges beside one that has moved are looked at again, and no others.
    tolerance : float
        Relative residual of the linear systems on the way, each for the change from one depth to the next:
        another one follows.
    fuse_agrees : float
        When two depths are fused, x up to which an edge agrees with the first: within two deviations, as
        nearly all of noise are.
    fuse_equal : float
        The same, x up to which two depths differ by the same at both ends of an edge: much less than that.
    box : int
        Pixels; over so many edges a bent surface betrays itself although each edge is within the noise.
    doubt : float
        Standard deviations that the mean residual of a box may lie off zero: in a large image there are many
        boxes, and 3 would be exceeded by chance.
    narrow : float
        A passage narrower than this part of the smaller of two pieces separates them: somewhat more than
        half, so that a neck does, and a waist does not.
    shared : float
        Edges that agree with nothing, added to each common boundary, so that a single edge does not join two
        pieces.
    least_agreement : float
        The least part of a common boundary that must agree for two pieces to be moved together.
    growth : float
        Of groups of pieces, each with little more than the one before, the factor between two that are
        looked at: so little that no move is missed.
    hypotheses : int
        Offsets tried for a piece: those that most of its boundary agrees on.
    sweeps : int
        Trees of pieces made in one round, at most; the first finds nearly all.
    prospects : int
        Pieces whose outline is sought by a minimum cut in one round, at most, since that takes time.
    prospect_pixels : int
        The least that such a piece has: smaller ones are moved by moving cuts.
    promise : float
        Times the least gain that the edges which gain must promise for that.
    alike : float
        The part by which size and offset of a piece may differ from one that was tried in vain, which is
        then not tried again.
    jump : float
        x from which an edge is a discontinuity that may be moved sideways: twice the width.
    reach : int
        Pixels on either side of it that may change sides. Those further away need another round.
    outline : int
        Pixels by which the outline of a piece that moves may change: more, since pieces are coarse.
    least_gain : float
        How many edges' worth of energy the move of a piece must gain: a single pixel has four edges.
    least_share : float
        The part of what all rounds have gained that a round must gain to be followed by another: by the
        edge alone, large images would go on for little.
    rounds : int
        Of moves and polishing, at most; few surfaces need more than four.
    """

    floor: float = 0.005
    window: int = 31
    fewest: int = 30
    wild: float = 5.0
    significant: float = 3.0
    contour_profile: float = 0.25
    contour_error: float = 0.1
    contour_edges: int = 3
    width: float = 3.0
    last_width: float = 8.5
    bend_price: float = 0.5
    least_price: float = 0.02
    gentle: float = 0.1
    whole: int = 2**12
    large: int = 2**18
    cooling: float = 1.5
    last_cooling: float = 2.5
    coldest: float = 0.1
    reheat: float = 3.0
    tolerance: float = 1e-2
    fuse_agrees: float = 0.5
    fuse_equal: float = 0.05
    box: int = 5
    doubt: float = 4.0
    narrow: float = 0.6
    shared: float = 4.0
    least_agreement: float = 0.02
    growth: float = 1.1
    hypotheses: int = 3
    sweeps: int = 6
    prospects: int = 2
    prospect_pixels: int = 30
    promise: float = 5.0
    alike: float = 0.1
    jump: float = 4.0
    reach: int = 8
    outline: int = 12
    least_gain: float = 2.0
    least_share: float = 0.05
    rounds: int = 10

    def __post_init__(self):
        for name, value in vars(self).items():
            inputs.as_positive(name, value)


CONSTANTS = Constants()
