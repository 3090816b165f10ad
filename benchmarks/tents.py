"""Look for a tent with the paper's Figure 14: Mumford-Shah on many tents, which takes minutes."""

from normint.workbook.studies import tents


def measure(quick):
    """Yield the rows of tents.csv, its header first, and print the pair nearest to the paper's."""
    pairs = tents.search(tents.grid()[::40] if quick else tents.grid())
    (best,) = tents.nearest(pairs)
    print(f"of {len(pairs)} settings the nearest is {best}, {best.distance():.2f} away", flush=True)
    yield from tents.rows(pairs)
