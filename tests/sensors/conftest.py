"""Both precisions, for every test that takes one."""

import pytest


@pytest.fixture(scope="module", params=["float64", "float32"])
def precision(request: pytest.FixtureRequest) -> str:
    return request.param
