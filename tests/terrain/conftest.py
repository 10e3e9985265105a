"""What terrain refuses, for every test of its arguments."""

from collections.abc import Callable

import pytest

from pliant.errors import ContactError


@pytest.fixture
def refused() -> Callable[[Callable[[], object], str], None]:
    """Checks that a call raises, about this field and with a cure."""

    def check(make: Callable[[], object], field: str) -> None:
        with pytest.raises(ContactError) as caught:
            make()
        assert caught.value.field == field
        assert caught.value.cure

    return check
