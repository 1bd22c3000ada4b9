"""The best simulator: numbers of the source's models, an unreduced programme, and both ends."""

from fractions import Fraction

import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument, Unsupported
from discreet.noiseless.finite import finite_model, programme_solver, world_conditions
from discreet.noiseless.finite.checked_delta import CheckedDelta, factors, least_epsilon
from discreet.noiseless.finite.coupled_pairs import (
    graph_nodes,
    individuals,
    members_of_groups,
    private_attributes,
    scrubbed,
)
from discreet.noiseless.finite.coupled_worlds import (
    attained_delta,
    check_coupled_worlds,
    check_distributional,
    check_simulated,
)
from discreet.noiseless.finite.finite_model import (
    FiniteModel,
    certain,
    deterministic,
    independent_rows,
    mixture,
    point_masses,
    without_knowledge,
)
from discreet.noiseless.finite.separations import known_parity, shared_sign
from discreet.noiseless.finite.simulator_programme import SimulatorProgramme
from tests.noiseless.finite.models import EPSILONS, PAIRS, finite_models, masses, plain_least_delta

FAIR = ["1/2", "1/2"]


def fair_sum(rows):
    bits = independent_rows([0, 1], rows, FAIR)
    return FiniteModel(deterministic(sum, bits), [without_knowledge(bits)])


@pytest.mark.parametrize(
    ("rows", "epsilon", "delta"),
    [
        (4, "0", 0.1875),
        (4, "0.5", 0.06049),
        (4, "1", 0.03362),
        (4, "2", 0.0149),
        (6, "0", 0.15625),
        (6, "0.5", 0.03872),
        (6, "1", 0.0084),
        (6, "2", 0.00373),
    ],
)
def test_the_sum_of_fair_bits(rows, epsilon, delta):
    found = check_distributional(fair_sum(rows), rows, epsilon)
    assert float(found.high) == pytest.approx(delta, abs=6e-6)
    assert 0 <= found.high - found.low < Fraction(1, 10**12)


def test_at_epsilon_zero_the_programme_is_rational_and_solved_exactly():
    found = check_distributional(fair_sum(4), 4, 0)
    assert found.is_exact
    assert found.high == Fraction(3, 16)


@pytest.mark.parametrize("epsilon", [0, 1, 5, 64])
@pytest.mark.parametrize("is_position_known", [True, False])
def test_a_parity_that_is_known_needs_one_half_whatever_epsilon(epsilon, is_position_known):
    found = check_distributional(known_parity(4), 4, epsilon, is_position_known=is_position_known)
    assert found.high == Fraction(1, 2)
    assert found.high - found.low < Fraction(1, 10**9)
    unknown = known_parity(4).with_laws([without_knowledge(independent_rows([0, 1], 4, FAIR))])
    assert check_distributional(unknown, 4, 0).high == 0


@pytest.mark.parametrize(
    ("is_known", "epsilon", "delta"), [(False, 0, 0.00677), (True, 0, 0.006769), (False, "0.5", 0)]
)
def test_the_sign_that_rows_share(is_known, epsilon, delta):
    found = check_distributional(shared_sign(5, "0.05", is_known=is_known), 5, epsilon)
    assert float(found.high) == pytest.approx(delta, abs=2e-6)
    assert found.high > 0 or delta == 0


@settings(max_examples=15, deadline=None)
@given(finite_models(), EPSILONS, st.booleans())
def test_merging_loses_nothing_and_both_ends_are_true(model, epsilon, is_position_known):
    """Against the programme as it is defined; and what is attained is enumerated anew."""
    flag = {"is_position_known": is_position_known}
    found = check_coupled_worlds(model, PAIRS, epsilon, **flag)
    assert float(found.low) - 1e-7 <= plain_least_delta(model, PAIRS, epsilon, **flag)
    assert plain_least_delta(model, PAIRS, epsilon, **flag) <= float(found.high) + 1e-7
    _, low_factor, _ = factors(epsilon)
    attained, _ = attained_delta(model, PAIRS, found.simulator, low_factor, **flag)
    assert attained == found.high
    assert found.high - found.low < Fraction(1, 10**8)


@settings(max_examples=15, deadline=None)
@given(finite_models(), EPSILONS, st.data())
def test_no_simulator_is_below_the_lower_end(model, epsilon, data):
    found = check_coupled_worlds(model, PAIRS, epsilon)
    law = st.builds(lambda row: dict(enumerate(row)), masses(3))
    simulator = {seen: data.draw(law) for seen in found.simulator}
    assert attained_delta(model, PAIRS, simulator, factors(epsilon)[2])[0] >= found.low


def test_a_wrong_dual_or_simulator_never_makes_an_end_false(monkeypatch):
    """Floats only say where to look: with nonsense from the solver the ends are wide, and true."""
    right = check_distributional(fair_sum(4), 4, 1)
    real = programme_solver._floats

    def nonsense(programme, factor):
        simulator, dual = real(programme, factor)
        return simulator[:, ::-1] * 0.7 + 0.2, programme_solver._Dual(
            dual.sums[::-1] * 3, dual.cells * -1 + 0.5
        )

    monkeypatch.setattr(programme_solver, "_floats", nonsense)
    found = check_distributional(fair_sum(4), 4, 1)
    assert found.low <= right.low
    assert right.high <= found.high
    assert found.high > right.high


def test_a_hidden_position_can_cost():
    """Two rows of which one is 1: whoever knows which row is missing knows what it was."""
    model = FiniteModel(
        deterministic(lambda x: x[0], [(0, 1), (1, 0)]), point_masses([(0, 1), (1, 0)])
    )
    assert check_coupled_worlds(model, individuals(2), 0).high == 0
    hidden = check_coupled_worlds(model, individuals(2), 9, is_position_known=False)
    assert hidden.high == Fraction(1, 2)


def test_one_simulator_must_serve_all_laws():
    """Each law alone needs no δ; together they do, because a simulator is not told which holds."""
    heads, tails = ({((bit,), None): Fraction(1)} for bit in (0, 1))
    model = FiniteModel({(bit,): certain(bit) for bit in (0, 1)}, [heads, tails])
    assert all(
        check_distributional(model.with_laws([law]), 1, 0).high == 0 for law in (heads, tails)
    )
    assert check_distributional(model, 1, 0).high == Fraction(1, 2)


def test_simulator_form_is_weaker_by_two_steps():
    """One bit as it is: δ = 1/2 in simulator form, 1 for neighbours; (1 + e^0) · 1/2 = 1."""
    assert check_simulated(FiniteModel({(b,): certain(b) for b in (0, 1)}, []), 1, 0).high == (
        Fraction(1, 2)
    )


# ---- What is private


def test_a_node_with_its_edges():
    """The number of edges of a graph of which every edge is a coin, without one node's edges."""
    edges = [(0, 1), (0, 2), (1, 2)]
    graphs = {}
    for number in range(8):
        kept = frozenset(edge for i, edge in enumerate(edges) if number >> i & 1)
        graphs[("", "", ""), kept] = Fraction(1, 8)
    model = FiniteModel(
        deterministic(lambda graph: len(graph[1]), graphs), [without_knowledge(graphs)]
    )
    found = check_coupled_worlds(model, graph_nodes(3), 0)
    # A node's degree is 0, 1 or 2, and one coin is left: the simulator adds 1 to it, or mixes.
    assert found.high == Fraction(1, 2)
    assert check_coupled_worlds(model, graph_nodes(3), 64).high == found.high


def test_public_columns_are_seen_by_the_simulator():
    """A name beside a bit: the name may be released if it is public, and not if it is private."""
    people = independent_rows([("a", 0), ("a", 1), ("b", 0), ("b", 1)], 2, ["1/4"] * 4)
    names = FiniteModel(
        deterministic(lambda x: tuple(row[0] for row in x), people), [without_knowledge(people)]
    )
    assert check_coupled_worlds(names, private_attributes(2, [1]), 0).high == 0
    assert check_coupled_worlds(names, private_attributes(2, [0]), 9).high == Fraction(1, 2)


def test_a_simulator_that_lacks_a_whole_group():
    """The total of the other group is the same; the own group's is what is simulated."""
    bits = independent_rows([0, 1], 4, FAIR)
    groups = [[0, 1], [2, 3]]
    model = FiniteModel(
        deterministic(lambda x: (x[0] + x[1], x[2] + x[3]), bits), [without_knowledge(bits)]
    )
    alone = check_coupled_worlds(model, individuals(4), 1)
    group = check_coupled_worlds(model, members_of_groups(groups), 1)
    assert group.high >= alone.low
    assert group.high == alone.high  # with independent rows nothing is lost


def test_scrubbed_rows_keep_what_may_be_known():
    """A firm's size may be known (the scrub keeps it), and so it may be released."""
    firms = independent_rows([3, 4, 30, 40], 2, ["1/4"] * 4)
    sizes = FiniteModel(
        deterministic(lambda x: tuple(row > 10 for row in x), firms), [without_knowledge(firms)]
    )
    assert check_coupled_worlds(sizes, scrubbed(2, lambda row: certain(row > 10)), 0).high == 0
    assert check_coupled_worlds(sizes, individuals(2), 9).high == Fraction(1, 2)


def test_noise_in_the_scrub_is_part_of_the_simulator_s_view():
    """A scrub that tells the bit with probability 3/4 leaves what that leaves."""
    coin = independent_rows([0, 1], 1, FAIR)
    model = FiniteModel(deterministic(lambda x: x[0], coin), [without_knowledge(coin)])

    def mostly(row):
        return {row: Fraction(3, 4), 1 - row: Fraction(1, 4)}

    assert check_coupled_worlds(model, scrubbed(1, mostly), 0).high == Fraction(1, 4)


# ---- The least ε, and limits


def test_the_least_epsilon_is_enclosed():
    """Randomised response of one bit, worst case: the simulator is in the middle of the two."""
    flip = {(b,): {b: Fraction(3, 4), 1 - b: Fraction(1, 4)} for b in (0, 1)}
    model = FiniteModel(flip, [])
    found = least_epsilon(lambda epsilon: check_simulated(model, 1, epsilon), 0)
    assert found.high is not None
    # A constant law (1/2, 1/2) is within ln 2 of (1/4, 3/4), and within ln(3/2) of the other side.
    assert found.low <= Fraction("0.693147181")
    assert found.high >= Fraction("0.69314718")
    assert found.high - found.low < Fraction(1, 10**5)


def test_there_may_be_no_epsilon():
    parity_model = known_parity(2)
    found = least_epsilon(lambda epsilon: check_distributional(parity_model, 2, epsilon), "0.4")
    assert found.high is None
    assert str(found) == "none up to 64"


@pytest.mark.parametrize("epsilon", [-1, 65, "nan", float("inf"), True, "1e9"])
def test_an_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(InvalidArgument):
        check_distributional(fair_sum(2), 2, epsilon)


def test_what_is_too_large_says_how_large(monkeypatch):
    with pytest.raises(Unsupported, match="databases"):
        independent_rows([0, 1], 17, FAIR)
    with pytest.raises(Unsupported, match="databases"):
        independent_rows([0, 1], 10**9, FAIR)
    monkeypatch.setattr(world_conditions, "MOST_ENTRIES", 10)
    with pytest.raises(Unsupported, match="64 entries"):
        check_distributional(fair_sum(4), 4, 0)
    monkeypatch.setattr(programme_solver, "MOST_CELLS", 3)
    monkeypatch.setattr(world_conditions, "MOST_ENTRIES", 1000)
    with pytest.raises(Unsupported, match="cells"):
        check_distributional(fair_sum(4), 4, 0)


def test_no_law_is_refused_by_what_is_wrong_with_it():
    with pytest.raises(InvalidArgument, match="sum to exactly 1"):
        independent_rows([0, 1], 2, ["1/2", "1/3"])
    with pytest.raises(InvalidArgument, match="each value once"):
        independent_rows([0, 0], 2, FAIR)
    with pytest.raises(InvalidArgument, match="does not fit"):
        independent_rows([0, 1], 2, ["1"])
    with pytest.raises(InvalidArgument, match="not exact"):
        FiniteModel({(0,): {0: 1.0}}, [])  # type: ignore[dict-item]
    with pytest.raises(InvalidArgument, match="not defined"):
        FiniteModel({(0,): certain(0)}, [{((1,), None): Fraction(1)}])
    with pytest.raises(InvalidArgument, match="not a distribution"):
        mixture([("1/2", {0: Fraction(1)})])
    with pytest.raises(InvalidArgument):
        CheckedDelta(Fraction(0), Fraction(1), Fraction(0))
    with pytest.raises(InvalidArgument):
        members_of_groups([[0], [0]])
    assert finite_model.MOST_DATABASES == 2**16


def test_one_condition_needs_no_delta():
    sure = SimulatorProgramme(((Fraction(1),),), ((Fraction(1),),))
    assert programme_solver.solve_programme(sure, Fraction(1), Fraction(1)).high == 0


def test_the_worst_condition_is_named():
    """A row that is 1 shows in the maximum of three; one that is 0 hides behind the others."""
    bits = independent_rows([0, 1], 3, ["9/10", "1/10"])
    model = FiniteModel(deterministic(max, bits), [without_knowledge(bits)])
    found = check_distributional(model, 3, 2)
    delta, worst = attained_delta(model, individuals(3), found.simulator, factors(2)[1])
    assert delta == found.high
    assert found.where == f"row 1 is {worst.value}"


def test_a_solver_that_finds_nothing_leaves_ends_that_are_wide_and_true(monkeypatch):
    right = check_distributional(fair_sum(4), 4, 1)
    nothing = type("Found", (), {"x": None})
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *_, **__: nothing)
    found = check_distributional(fair_sum(4), 4, 1)
    assert found.low == 0
    assert right.high < found.high < 1


@pytest.mark.parametrize("epsilon", [10, 20, 64])
def test_large_epsilons_and_tiny_probabilities_have_true_ends(epsilon):
    """Two laws that are mirrored: the best simulator is a fair coin, and δ = (1/2 - e^ε τ)⁺."""
    tiny = Fraction(1, 10**20)
    law = {(b,): {b: 1 - tiny, 1 - b: tiny} for b in (0, 1)}
    found = check_simulated(FiniteModel(law, []), 1, epsilon)
    _, low_factor, high_factor = factors(epsilon)
    half = Fraction(1, 2)
    assert found.low <= max(Fraction(0), half - low_factor * tiny)
    assert found.high >= max(Fraction(0), half - high_factor * tiny)
    assert (found.high == 0) == (epsilon == 64)
