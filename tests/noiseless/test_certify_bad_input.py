"""What cannot be asked of a certificate is refused in words, and never ends in a traceback."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import certify
from discreet.core.errors import InvalidArgument
from discreet.noiseless.inference import Inference


@pytest.mark.parametrize(
    "said",
    [
        {"rows": "1e400"},
        {"range": Fraction(1, 3)},
        {"range": np.int64(3)},
        {"range": int},
        {"grid": 0},
        {"grid": -1},
        {"grid": "1e-400"},
        {"use": np.array([1, 2])},
        {"known_rows": np.array([1, 2])},
        {"chosen": np.array([1, 2])},
        {"epsilon": "1e-400"},
        {"law": "uniform(0, 1e400)"},
        {"law": "uniform(0, 1e-400)"},
        {"law": "discrete(0: 0.5, 1e400: 0.5)"},
        {"law": "normal(1e400, 1)", "range": (-1, 1)},
        {"law": "exponential(0, 1e400)", "range": (-1, 1)},
        {"law": "normal(0, 1)", "range": (-1, 1), "grid": "1e-9"},
        {"law": "uniform(0, 1)", "grid": "1e-14"},
        {"given": None},
        {"given": 3},
    ],
    ids=str,
)
def test_odd_arguments_are_refused_in_words(said):
    asked: dict[str, Any] = {"rows": 50, "law": "uniform(0, 40)"} | said
    with pytest.raises(InvalidArgument):
        certify("sum", **asked)


def test_the_chance_of_an_exception_is_rounded_up_where_it_is_said():
    reading = Inference(epsilon=1, delta="1.24e-5", failure="1.24e-5", people=1)
    assert "a chance of 1.3e-05" in reading.sentence()
