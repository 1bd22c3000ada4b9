"""The page for those who come from another library says what its peer says."""

import dp_accounting as peer
import pytest
from dp_accounting import pld, rdp

from discreet import account
from discreet.core.event import Event
from discreet.events import GaussianEvent, LaplaceEvent, PoissonSampledEvent
from tests.support.house.paths import DOCS

PAGE = (DOCS / "how-to" / "come-from-another-library.md").read_text()
ADDED, REPLACED = (
    peer.NeighboringRelation.ADD_OR_REMOVE_ONE,
    peer.NeighboringRelation.REPLACE_ONE,
)
MIXED = peer.ComposedDpEvent(
    [
        peer.SelfComposedDpEvent(peer.GaussianDpEvent(10), 10),
        peer.SelfComposedDpEvent(peer.LaplaceDpEvent(10), 10),
    ]
)
STEPS = peer.SelfComposedDpEvent(
    peer.PoissonSampledDpEvent(256 / 60000, peer.GaussianDpEvent(1.1)), 14063
)


@pytest.mark.parametrize(
    ("theirs", "ours", "delta", "measure"),
    [
        (
            peer.SelfComposedDpEvent(peer.GaussianDpEvent(20), 1000),
            GaussianEvent(20) * 1000,
            "1e-6",
            "auto",
        ),
        (STEPS, PoissonSampledEvent("256/60000", GaussianEvent("1.1")) * 14063, "1e-5", "auto"),
        (MIXED, GaussianEvent(10) * 10 + LaplaceEvent(10) * 10, "1e-5", "auto"),
        (MIXED, GaussianEvent(10) * 10 + LaplaceEvent(10) * 10, "1e-5", "rdp"),
    ],
)
def test_tasks_agree(theirs: peer.DpEvent, ours: Event, delta: str, measure: str):
    accountant = rdp.RdpAccountant() if measure == "rdp" else pld.PLDAccountant()
    said = accountant.compose(theirs).get_epsilon(float(delta))
    assert f"{said:.4f}" in PAGE
    assert float(account(ours, delta=delta, measure=measure).epsilon) == pytest.approx(said, 1e-3)


def test_the_factor_of_a_changed_unit_is_as_stated():
    event = peer.GaussianDpEvent(1)
    doubled = pld.PLDAccountant(REPLACED).compose(event).get_epsilon(1e-5)
    single = pld.PLDAccountant(ADDED).compose(event).get_epsilon(1e-5)
    for distance, said in ((2, doubled), (1, single)):
        ours = account(GaussianEvent(1, distance, metric="change_one"), delta="1e-5")
        assert float(ours.epsilon) == pytest.approx(said, 1e-6)
    assert f"{doubled:.3f}" in PAGE
    assert (
        f"{rdp.RdpAccountant(neighboring_relation=REPLACED).compose(event).get_epsilon(1e-5):.3f}"
        in PAGE
    )


def test_calibration_agrees():
    assert f"{peer.get_sigma_gaussian(1.0, 1e-6):.6f}" in PAGE
