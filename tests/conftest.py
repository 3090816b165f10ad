"""What all tests share."""

from hypothesis import settings

# How long an example takes says nothing about whether it is right, least of all on a machine that is shared.
settings.register_profile("normint", deadline=None)
settings.load_profile("normint")
