r"""From one neighbour relation to the other: a loss for adding or removing, and for changing.

To change the rows of one unit is to remove the unit and to add it again: two steps. The other way
there is no theorem: a mechanism that publishes the number of units tells nothing under *change one*
and everything under *add or remove*.
"""

from discreet.accounting.group import group
from discreet.accounting.result import Result
from discreet.core.errors import Unsupported
from discreet.core.loss import PrivacyLoss
from discreet.core.metric import Metric, metric_of


def convert_neighbours(loss: PrivacyLoss, *, source: Metric | str, target: Metric | str) -> Result:
    r"""Return a loss under ``target`` for a mechanism that has ``loss`` under ``source``.

    Guarantee:
        From *add or remove* to *change one* it is the loss of a group of two:
        :math:`2\varepsilon`; :math:`(2\varepsilon, (1 + e^\varepsilon)\delta)`;
        :math:`(3\xi, 4\rho)`-zCDP; :math:`2\mu`-Gaussian DP. They are often called equivalent;
        they are not, and the converse is refused.

    Example:
        >>> from discreet.core.loss import Pure
        >>> loss = Pure("0.5")
        >>> changed = convert_neighbours(loss, source=Metric.ADD_REMOVE, target=Metric.CHANGE_ONE)
        >>> print(changed)
        ε = 1 (remove and add: DR14, Theorem 2.2)
    """
    source, target = metric_of(source), metric_of(target)
    if source is target:
        return Result(loss=loss, method="none", theorem="the same neighbours")
    if target is Metric.ADD_REMOVE:
        raise Unsupported(
            "A loss for changing a unit says nothing about adding or removing one",
            must=f"be a loss under {Metric.ADD_REMOVE.value}",
            got=source.value,
            next="Ask the mechanism for its loss under add_remove; "
            "the number of units must be hidden as well",
        )
    found = group(loss, 2)
    return Result(loss=found.loss, method="remove and add", theorem=found.theorem)
