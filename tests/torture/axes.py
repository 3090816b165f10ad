"""A random shape, noise, bits, mask, camera: right axes are not doubted, wrong ones not misnamed."""

import numpy as np

from tests.axes_shapes import CHANGES, changed, doubt, draw, named, right_or_hollow


def trial(seed, folder):
    """Give right axes, for the map as it is and with other components; and axes that are wrong."""
    rng = np.random.default_rng(seed)
    normals, mask, camera, words = draw(rng)
    change = str(rng.choice(list(CHANGES)))
    other = changed(normals, change)
    for what, axes in ((normals, "uvz"), (other, CHANGES[change][2])):
        said = doubt(what, mask, axes, camera)
        assert said is None, f"seed {seed}: {words}: right axes are doubted: {said}"
    advice = doubt(other, mask, "uvz", camera)
    assert advice is None or set(named(advice)) & set(right_or_hollow(change)), (
        f"seed {seed}: {words}, {change}: not among those advised: {advice}"
    )


def shrunk(seed, folder):
    """Return a program that shows the failure."""
    return "\n".join([
        "import numpy as np",
        "from tests.axes_shapes import CHANGES, changed, doubt, draw",
        f"rng = np.random.default_rng({seed})",
        "normals, mask, camera, words = draw(rng)",
        "change = str(rng.choice(list(CHANGES)))",
        "print(words, change)",
        'print("right axes:", doubt(normals, mask, "uvz", camera))',
        'print("other axes:", doubt(changed(normals, change), mask, "uvz", camera))',
    ])  # fmt: skip
