"""Our few statistics against SciPy's, which the program itself does without."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.comparison.bootstrap import students_t
from advisor.metrics.slopes import kendall_p_value, theil_sen

stats = pytest.importorskip("scipy.stats")
WHOLE = st.integers(-50, 50)
REAL = st.floats(-1e6, 1e6).map(lambda one: round(one, 3))


@pytest.mark.parametrize("free", [1, 1.5, 2, 3, 4.7, 9, 30, 99.5, 1000, 12345.6])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.995])
def test_students_t(probability: float, free: float) -> None:
    assert students_t(probability, free) == pytest.approx(stats.t.ppf(probability, free), rel=1e-8, abs=1e-9)


@given(st.lists(st.tuples(WHOLE | REAL, WHOLE | REAL), min_size=3, max_size=60))
def test_the_slope_and_its_interval(points: list[tuple[float, float]]) -> None:
    at, values = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    if len(np.unique(at)) < 2:
        return
    with np.errstate(invalid="ignore"):  # SciPy takes the root of what is below 0 where nearly all values are equal
        found, expected = theil_sen(values, at), stats.theilslopes(values, at)
    assert found.value == pytest.approx(expected.slope, rel=1e-9, abs=1e-12)
    if not np.isnan(expected.low_slope):
        assert found.low == pytest.approx(expected.low_slope, rel=1e-9, abs=1e-12)
        assert found.high == pytest.approx(expected.high_slope, rel=1e-9, abs=1e-12)


@given(st.lists(st.tuples(WHOLE | REAL, WHOLE | REAL), min_size=3, max_size=60))
def test_kendalls_test(points: list[tuple[float, float]]) -> None:
    one, other = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    if len(np.unique(one)) < 2 or len(np.unique(other)) < 2:
        return
    expected = stats.kendalltau(one, other, method="asymptotic").pvalue
    assert kendall_p_value(one, other) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("count", [3, 10, 33, 200])
def test_kendalls_test_on_what_has_no_ties(count: int) -> None:
    at = np.arange(count, dtype=float)
    for values in (at, -at, np.sin(at * 1.7), np.cos(at * 0.9) + at / count):
        found, expected = kendall_p_value(at, values), stats.kendalltau(at, values, method="asymptotic").pvalue
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)
