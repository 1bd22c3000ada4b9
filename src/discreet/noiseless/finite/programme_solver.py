r"""Simulators by linear programming, with a certificate on both sides.

Floats only say where to look. A simulator that was found is rounded to fractions, and the δ that
*it* attains is computed exactly: that is an upper bound. A dual solution is rounded likewise, and
its value is computed exactly: that is a lower bound, whatever the solver did.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core.errors import Unsupported
from discreet.core.optional import load
from discreet.noiseless.finite.simulator_programme import SimulatorProgramme

MOST_CELLS = 3_000_000
"""A programme has at most so many cells: conditions, times things seen, times outputs."""

_GRID = 1 << 52
_FEW = 400
"""So many cells are tried with short fractions, too: they often are the exact solution."""
_SHORT = 1000
_TOLERANCES = (1e-10, 1e-7)
_TOLERANCE_OF = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
_LARGEST_FACTOR = Fraction(1 << 24)
_STEADIER = 1 - Fraction(1, 1 << 26)

Rows = list[list[Fraction]]


@frozen(eq=False)
class SolvedProgramme:
    """A simulator, the δ that it attains, and a δ below which none can be.

    Attributes:
        low: No simulator has a smaller δ at ``e^epsilon <= high_factor``.
        high: What ``simulator`` attains at ``e^epsilon >= low_factor``.
        worst: The condition at which it is reached.
        simulator: For each thing seen, the probability of each output.
    """

    low: Fraction
    high: Fraction
    worst: int
    simulator: Rows


def solve_programme(
    programme: SimulatorProgramme, low_factor: Fraction, high_factor: Fraction
) -> SolvedProgramme:
    r"""Return the least δ of a programme, enclosed, and a simulator that attains the upper end.

    Guarantee:
        For every :math:`f` between the factors, the least :math:`\delta` for which some simulator
        has :math:`\sum_t (P_c - f Q_c)^+ \le \delta` and :math:`\sum_t (Q_c - f P_c)^+ \le \delta`
        for all conditions lies between ``low`` and ``high``. Proof. ``high`` is what a simulator
        attains at the lower factor, and both sums fall as :math:`f` grows. For ``low``, let
        :math:`\lambda_c, \mu_c \ge 0` sum to 1 over all conditions, and
        :math:`0 \le \alpha_c(t) \le \lambda_c`, :math:`0 \le \beta_c(t) \le \mu_c`. A mean is not
        above the largest, and a positive part not below any share of it, so every simulator has

        .. math:: \delta \ge \sum_{c,t} \alpha_c(t) (P_c - f Q_c)(t) + \beta_c(t) (Q_c - f P_c)(t)
            \ge \sum_{c,t} P_c(t) (\alpha_c - f \beta_c)(t)
            + \sum_a \min_t \sum_c w_c(a) (\beta_c - f \alpha_c)(t),

        which is computed exactly at the higher factor. One linear programme has both solutions; the
        enclosure is as narrow as its floats were good: about :math:`10^{-12}` as a rule. Where
        probabilities are smaller than :math:`e^{-\varepsilon}` and that is below :math:`10^{-4}`,
        floats have no digits for them, and the two ends can be far apart; both stay true.

    Example:
        >>> half = Fraction(1, 2)
        >>> coins = SimulatorProgramme(((half, half), (Fraction(1), Fraction(0))), ((1,), (1,)))
        >>> solve_programme(coins, Fraction(1), Fraction(1)).high
        Fraction(1, 4)
    """
    if programme.conditions == 1:
        return SolvedProgramme(
            Fraction(0), Fraction(0), 0, [list(programme.released[0])] * programme.seen
        )
    cells = programme.conditions * programme.seen * programme.outputs
    if cells > MOST_CELLS:
        raise Unsupported(
            f"The search for a simulator has {cells} cells after all that can be merged",
            must=f"have at most {MOST_CELLS}: conditions, times things seen, times outputs",
            next="Take fewer rows, or tell the simulator whose row is private",
        )
    factor = min(low_factor, _LARGEST_FACTOR)
    found, dual = _floats(programme, float(factor))
    high, worst, simulator = _best(programme, found, low_factor)
    low = _dual_value(programme, dual, high_factor, cells)
    if low < high / 2 and low_factor > programme.conditions:
        # Each law is at most so many times the mean of all: for a large ε that may be all it takes.
        rows = _means(programme)
        other = (*attained(programme, rows, low_factor), rows)
        high, worst, simulator = min((high, worst, simulator), other, key=lambda one: one[0])
    if low < high / 2:
        # At a slightly smaller factor there is room for rounding: δ = 0 is then met exactly.
        steadier, _ = _floats(programme, float(factor * _STEADIER))
        other = _best(programme, steadier, low_factor)
        high, worst, simulator = min((high, worst, simulator), other, key=lambda one: one[0])
    return SolvedProgramme(max(Fraction(0), low), high, worst, simulator)


def attained(
    programme: SimulatorProgramme, simulator: Sequence[Sequence[Fraction]], factor: Fraction
) -> tuple[Fraction, int]:
    """Return the δ that a simulator attains at a rational factor, exactly, and the condition."""
    worst = Fraction(0), 0
    columns = list(zip(*simulator, strict=True))
    rows = zip(programme.released, programme.weights, strict=True)
    for number, (released, weights) in enumerate(rows):
        here = [(place, weight) for place, weight in enumerate(weights) if weight]
        said = [
            sum((weight * column[place] for place, weight in here), Fraction(0))
            for column in columns
        ]
        pairs = list(zip(released, said, strict=True))
        delta = max(
            sum((max(Fraction(0), p - factor * q) for p, q in pairs), Fraction(0)),
            sum((max(Fraction(0), q - factor * p) for p, q in pairs), Fraction(0)),
        )
        worst = max(worst, (delta, number), key=lambda pair: pair[0])
    return worst


def _best(
    programme: SimulatorProgramme, found: Any, factor: Fraction
) -> tuple[Fraction, int, Rows]:
    """Round a simulator to a fine grid, a small one to short fractions too; keep the better."""
    tried = [_to_grid(found)]
    if found.size <= _FEW:
        tried.append(_to_short(found))
    return min(
        ((*attained(programme, rows, factor), rows) for rows in tried), key=lambda one: one[0]
    )


def _means(programme: SimulatorProgramme) -> Rows:
    """Return the simulator that says the mean of all that is released where it sees the same."""
    rows = []
    for place in range(programme.seen):
        pairs = zip(programme.released, programme.weights, strict=True)
        here = [released for released, weights in pairs if weights[place]]
        columns = zip(*here, strict=True)
        rows.append([sum(column, Fraction(0)) / len(here) for column in columns])
    return rows


def _to_grid(found: Any) -> Rows:
    rows = []
    for row in np.clip(found, 0.0, 1.0):
        units = [round(value * _GRID) for value in row.tolist()]
        units[units.index(max(units))] += _GRID - sum(units)
        rows.append([Fraction(unit, _GRID) for unit in units])
    return rows


def _to_short(found: Any) -> Rows:
    rows = []
    for row in np.clip(found, 0.0, 1.0):
        masses = [Fraction(value).limit_denominator(_SHORT) for value in row.tolist()]
        masses[masses.index(max(masses))] += 1 - sum(masses)
        rows.append([max(Fraction(0), mass) for mass in masses])
        if sum(rows[-1]) != 1:
            return _to_grid(found)
    return rows


@frozen(eq=False)
class _Dual:
    """Multipliers: of the sums (one for each condition and direction), and of the cells."""

    sums: Any
    cells: Any


def _dual_value(
    programme: SimulatorProgramme, dual: _Dual, factor: Fraction, cells: int
) -> Fraction:
    tried = [lambda value: Fraction(round(value * _GRID), _GRID)]
    if cells <= _FEW:
        tried.append(lambda value: Fraction(value).limit_denominator(_SHORT))
    return max(_value(programme, dual, factor, rounded) for rounded in tried)


def _value(programme: SimulatorProgramme, dual: _Dual, factor: Fraction, rounded: Any) -> Fraction:
    """Return the exact value of multipliers, rounded, normalised and cut to their ranges."""
    sums = [max(Fraction(0), rounded(value)) for value in dual.sums.tolist()]
    if not sum(sums):
        return Fraction(0)
    total = sum(sums)
    sums = [value / total for value in sums]
    count, outputs = programme.conditions, programme.outputs
    value = Fraction(0)
    net: list[list[Fraction]] = []
    for number in range(count):
        more, less = sums[number], sums[count + number]
        row = []
        for t in range(outputs):
            alpha = min(more, max(Fraction(0), rounded(dual.cells[number, t]) / total))
            beta = min(less, max(Fraction(0), rounded(dual.cells[count + number, t]) / total))
            value += programme.released[number][t] * (alpha - factor * beta)
            row.append(beta - factor * alpha)
        net.append(row)
    for place in range(programme.seen):
        here = [
            (weights[place], net[number])
            for number, weights in enumerate(programme.weights)
            if weights[place]
        ]
        value += min(
            sum((weight * row[t] for weight, row in here), Fraction(0)) for t in range(outputs)
        )
    return value


def _floats(programme: SimulatorProgramme, factor: float) -> tuple[Any, _Dual]:
    """Solve the programme in floats; return the simulator and the multipliers.

    Variables: the simulator, then the excess of each direction, condition and output, then δ. All
    rows are divided by the factor, so that they stay of moderate size.
    """
    sparse = load("scipy.sparse")
    count, seen, outputs = programme.conditions, programme.seen, programme.outputs
    released = np.array([[float(p) for p in row] for row in programme.released]).ravel()
    weights = np.array([[float(w) for w in row] for row in programme.weights])
    both = sparse.csr_matrix(np.vstack([-weights, weights / factor]))
    delta = sparse.csr_matrix(np.full((2 * count, 1), -1.0 / factor))
    matrix = sparse.bmat(
        [
            [sparse.kron(both, sparse.eye(outputs)), -sparse.eye(2 * count * outputs), None],
            [None, sparse.kron(sparse.eye(2 * count), np.ones((1, outputs))), delta],
        ],
        format="csr",
    )
    equal = sparse.kron(sparse.eye(seen), np.ones((1, outputs)))
    goal = np.zeros(matrix.shape[1])
    goal[-1] = 1.0
    for tolerance in _TOLERANCES:
        solved = load("scipy.optimize").linprog(
            goal,
            A_ub=matrix,
            b_ub=np.concatenate([-released / factor, released, np.zeros(2 * count)]),
            A_eq=sparse.hstack([equal, sparse.csr_matrix((seen, 2 * count * outputs + 1))]),
            b_eq=np.ones(seen),
            method="highs",
            options=dict.fromkeys(_TOLERANCE_OF, tolerance),
        )
        if solved.x is not None:
            break
    else:
        # Nothing was found: a uniform simulator and no multipliers are true, too, and say little.
        nothing = _Dual(np.zeros(2 * count), np.zeros((2 * count, outputs)))
        return np.full((seen, outputs), 1.0 / outputs), nothing
    multipliers = -solved.ineqlin.marginals / factor
    half = 2 * count * outputs
    return solved.x[: seen * outputs].reshape(seen, outputs), _Dual(
        multipliers[half:], multipliers[:half].reshape(2 * count, outputs)
    )
