"""The public names say what they take and return, and the package tells type checkers that it does."""

import inspect
from importlib.resources import files

import pytest

import normint

FUNCTIONS = [
    normint.integrate,
    normint.integrate_normals,
    normint.normals_to_gradient,
    normint.gradient_to_normals,
    normint.depth_to_normals,
    normint.photometric_stereo,
    normint.domain.Domain,
    *(getattr(normint.metrics, name) for name in normint.metrics.__all__),
    *(getattr(normint.surfaces, name) for name in normint.surfaces.__all__),
    *(getattr(normint.priors.depth_sensor, name) for name in normint.priors.depth_sensor.__all__),
    *(
        getattr(module, name)
        for module in (normint.datasets, normint.priors)
        for name in module.__all__
        if callable(getattr(module, name))
    ),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_argument_has_a_hint(function):
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter.name
    assert inspect.isclass(function) or signature.return_annotation is not inspect.Signature.empty


def test_type_checkers_are_told():
    assert files("normint").joinpath("py.typed").is_file()
