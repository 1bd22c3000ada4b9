"""The linear programme of least absolute errors, by a method that large dense systems allow."""

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core import optional
from discreet.core.errors import InvalidArgument

FloatArray = NDArray[np.float64]

MOST_STEPS = 100
GAP = 1e-6
"""How far the solution's error may be above the least, as a share of it or of one a query."""


@frozen(kw_only=True, eq=False)
class LeastDeviations:
    """Numbers from 0 to 1 with nearly the least sum of absolute errors, and a bound on the rest."""

    solution: FloatArray
    error: float
    """The sum of absolute errors of the solution."""
    bound: float
    """No numbers from 0 to 1 have a smaller one, up to rounding: a solution of the dual says so."""


def least_deviations(matrix: FloatArray, answers: FloatArray) -> LeastDeviations:
    r"""Return the x in [0, 1] for which the sum of :math:`|a - Qx|` is least.

    Guarantee:
        For any :math:`y` with entries from -1 to 1 and any :math:`x` in the box,
        :math:`\|a - Qx\|_1 \ge y^\mathsf{T}(a - Qx) \ge
        y^\mathsf{T} a - \sum_j \max(0, (Q^\mathsf{T} y)_j)`: a bound that needs no trust in how
        :math:`y` was found. Newton steps on the conditions :math:`xz = s w = u(1 - y) = v(1 + y) =
        \mu` with falling :math:`\mu`, where :math:`s = 1 - x` and :math:`u - v = a - Qx`, bring
        both together; each solves a system of as many unknowns as there are people. The result is
        given out only if error and bound agree. All is computed in floats: an attack, no promise.

    Example:
        >>> sets = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
        >>> found = least_deviations(sets, np.array([1.0, 0.0, 1.0, 9.0]))
        >>> found.solution.round(2).tolist(), round(found.error, 2)
        ([1.0, 0.0], 8.0)
    """
    state = _begin(matrix, answers)
    best = _measured(matrix, answers, state)
    for _ in range(MOST_STEPS):
        if best.error - best.bound <= GAP * max(best.error, len(answers)):
            return best
        try:
            state = _step(matrix, state)
        except np.linalg.LinAlgError:
            break
        found = _measured(matrix, answers, state)
        best = LeastDeviations(
            solution=found.solution if found.error <= best.error else best.solution,
            error=min(found.error, best.error),
            bound=max(found.bound, best.bound),
        )
    raise InvalidArgument(
        "The linear programme was not solved", next="Decode by least squares instead"
    )


@frozen
class _State:
    x: FloatArray
    y: FloatArray
    u: FloatArray
    v: FloatArray
    z: FloatArray
    """What it costs to push x below 0."""
    w: FloatArray
    """What it costs to push x above 1."""


def _begin(matrix: FloatArray, answers: FloatArray) -> _State:
    people = matrix.shape[1]
    middle = np.full(people, 0.5)
    off = answers - matrix @ middle
    room = 1 + np.abs(off).mean()
    costs = np.full(people, room)
    return _State(
        middle,
        np.zeros(len(answers)),
        np.maximum(off, 0) + room,
        np.maximum(-off, 0) + room,
        costs,
        costs,
    )


def _measured(matrix: FloatArray, answers: FloatArray, state: _State) -> LeastDeviations:
    x, y = np.clip(state.x, 0, 1), np.clip(state.y, -1, 1)
    error = float(np.abs(answers - matrix @ x).sum())
    bound = float(answers @ y - np.maximum(0, matrix.T @ y).sum())
    return LeastDeviations(solution=x, error=error, bound=bound)


def _step(matrix: FloatArray, now: _State) -> _State:
    """Go one step of Mehrotra's predictor and corrector."""
    pairs = [(now.x, now.z), (1 - now.x, now.w), (now.u, 1 - now.y), (now.v, 1 + now.y)]
    size = sum(one.size for one, _ in pairs)
    middle = sum(float(one @ other) for one, other in pairs) / size
    newton = _Newton(matrix, now)
    plain = newton.towards([-(one * other) for one, other in pairs])
    far = _reach(pairs, plain, 1.0)
    after = sum(
        float((one + far * d_one) @ (other + far * d_other))
        for (one, other), (d_one, d_other) in zip(pairs, plain, strict=True)
    )
    goal = middle * (after / size / middle) ** 3
    moved = newton.towards(
        [
            goal - one * other - d_one * d_other
            for (one, other), (d_one, d_other) in zip(pairs, plain, strict=True)
        ]
    )
    far = _reach(pairs, moved, 0.9995)
    (x, z), (_, w), (u, down), (v, _) = moved
    return _State(
        now.x + far * x,
        now.y - far * down,
        now.u + far * u,
        now.v + far * v,
        now.z + far * z,
        now.w + far * w,
    )


Pairs = list[tuple[FloatArray, FloatArray]]


def _reach(pairs: Pairs, moves: Pairs, share: float) -> float:
    """Return how far all numbers stay above 0, at most 1."""
    far = 1.0
    for pair, move in zip(pairs, moves, strict=True):
        for value, change in zip(pair, move, strict=True):
            falling = change < 0
            if falling.any():
                far = min(far, share * float((value[falling] / -change[falling]).min()))
    return far


class _Newton:
    """The linear system of a step, whose matrix serves the predictor and the corrector."""

    def __init__(self, matrix: FloatArray, now: _State) -> None:
        self._matrix, self._now = matrix, now
        self._spread = 1 / (now.u / (1 - now.y) + now.v / (1 + now.y))
        scaled = matrix * np.sqrt(self._spread)[:, None]
        system: Any = optional.load("scipy.linalg.blas").dsyrk(1.0, scaled.T)
        diagonal = np.diagonal(system) + now.z / now.x + now.w / (1 - now.x)
        np.fill_diagonal(system, diagonal)
        self._factor = optional.load("scipy.linalg").cho_factor(system, overwrite_a=True)

    def towards(self, goals: list[FloatArray]) -> Pairs:
        """Return the moves of all pairs whose products change by these goals."""
        low, high, up, down = goals
        now, matrix = self._now, self._matrix
        # Products of slacks: u (1 - y) and v (1 + y) change by ``up`` and ``down``.
        shift = up / (1 - now.y) - down / (1 + now.y)
        right = low / now.x - high / (1 - now.x) - matrix.T @ (self._spread * shift)
        x = optional.load("scipy.linalg").cho_solve(self._factor, right)
        y = -self._spread * (shift + matrix @ x)
        u = (up + now.u * y) / (1 - now.y)
        v = (down - now.v * y) / (1 + now.y)
        z = (low - now.z * x) / now.x
        w = (high + now.w * x) / (1 - now.x)
        return [(x, z), (-x, w), (u, -y), (v, y)]
