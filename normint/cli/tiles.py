"""Tiles of `normint integrate`: for maps that fit into the memory, but not together with what solves them."""

import warnings

from normint.cli.parsing import UsageError

LEAST = 64  # pixels that a tile is wide
OVERLAP = 64  # pixels; less for small tiles
OPTIONS = ("tolerance", "max_iterations", "least_cosine", "steepest")  # of the method or the map


def check_tiles(arguments, options):
    """Refuse tiles where they cannot be had."""
    if arguments.tiles is None:
        return
    if arguments.tiles < LEAST:
        raise UsageError(f"--tiles is {arguments.tiles}; expected a number of pixels ≥ {LEAST}")
    if arguments.method != "quadratic":
        raise UsageError(f"--tiles is given with --method {arguments.method}; expected quadratic")
    for name in options:
        if name not in OPTIONS:
            raise UsageError(f"--option {name} is given with --tiles; expected one of {', '.join(OPTIONS)}")


def in_tiles(side):
    """Return a function that integrates slopes in tiles of so many pixels, without a warning."""

    def integrate(p, q, mask, *, method, **options):
        from normint.tiles.integrate_tiles import integrate_tiles

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a result that did not converge is told as any other
            return integrate_tiles(p, q, mask, tile=side, overlap=min(OVERLAP, side // 8), **options)

    return integrate
