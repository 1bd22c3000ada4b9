"""Analysts in ``discreet.toml``: their shares of the budgets."""

from collections.abc import Mapping

from discreet.core.errors import DeclarationError
from discreet.core.loss import GaussianDp, PrivacyLoss
from discreet.tables.catalog import Analyst, IdSpace
from discreet.tables.declarations.losses import read_loss
from discreet.tables.declarations.section import Section


def read_analysts(section: Section, id_spaces: tuple[IdSpace, ...]) -> tuple[Analyst, ...]:
    """Return the analysts; each has a share of at least one budget, in its measure."""
    if not section.data:
        return ()
    spaces = {space.name: space for space in id_spaces}
    return tuple(_analyst(name, section.sub(name), spaces) for name in section.names())


def _analyst(name: str, section: Section, spaces: Mapping[str, IdSpace]) -> Analyst:
    if not name:
        raise DeclarationError(f"{section.place()} has an empty name", must="have a name")
    shares = section.sub("allocations")
    section.finish()
    allocations = {space: _share(shares, space, spaces) for space in shares.names()}
    return Analyst(name=name, allocations=allocations)


def _share(shares: Section, space: str, spaces: Mapping[str, IdSpace]) -> PrivacyLoss:
    if space not in spaces:
        raise DeclarationError(
            f"{shares.place(space)} names no id space",
            must=f"be one of {', '.join(sorted(spaces))}",
            got=space,
        )
    loss, cap = read_loss(shares.sub(space)), spaces[space].cap
    if loss.measure is not cap.measure:
        raise DeclarationError(
            f"{shares.place(space)} is measured in another way than the budget",
            must=f"have {' and '.join(_names(cap))}, like the budget of {space}",
            got=" and ".join(_names(loss)),
        )
    return loss


def _names(loss: PrivacyLoss) -> list[str]:
    if isinstance(loss, GaussianDp):
        return ["mu"]
    return [name for name in ("epsilon", "rho", "delta") if hasattr(loss, name)]
