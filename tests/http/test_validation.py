from __future__ import annotations

import pytest

from shared.http.request import Request
from shared.http.validation import flag_in, integer_in
from shared.kernel.errors import InvalidInput
from tests.clients.events import event


@pytest.mark.parametrize(("text", "value"), [("1", 1), ("100", 100), ("007", 7)])
def test_an_integer_within_its_bounds_is_taken(text: str, value: int) -> None:
    assert integer_in({"limit": text}, "limit", within=(1, 100), default=20) == value


@pytest.mark.parametrize("text", ["", "0", "101", "-1", "+1", "1.0", "1e1", " 1", "\u0661", "9" * 5000, "x"])
def test_anything_else_is_invalid_and_names_the_parameter(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        integer_in({"limit": text}, "limit", within=(1, 100), default=20)
    assert refused.value.violations[0].loc == ("query", "limit")


def test_what_is_left_out_has_its_default() -> None:
    assert integer_in({}, "limit", within=(1, 100), default=20) == 20
    assert flag_in({}, "all") is False


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False)])
def test_a_flag_is_true_or_false(text: str, *, value: bool) -> None:
    assert flag_in({"all": text}, "all") is value


@pytest.mark.parametrize("text", ["", "1", "True", "yes"])
def test_no_other_word_is_a_flag(text: str) -> None:
    with pytest.raises(InvalidInput):
        flag_in({"all": text}, "all")


@pytest.mark.parametrize("coding", ["", "identity", "Identity "])
def test_a_body_that_is_not_packed_is_read(coding: str) -> None:
    request = Request(event("POST", "/", body=b'{"a": 1}', headers={"content-encoding": coding}))
    assert request.json_within(100) == {"a": 1}


@pytest.mark.parametrize("coding", ["gzip", "identity, br", "x"])
def test_a_body_that_is_packed_is_refused_and_names_the_header(coding: str) -> None:
    request = Request(event("POST", "/", body=b'{"a": 1}', headers={"content-encoding": coding}))
    with pytest.raises(InvalidInput) as error:
        request.json_within(100)
    (violation,) = error.value.violations
    assert violation.loc == ("header", "content-encoding")
