"""What is asked as soon as a holdout is open, so that a slip in it costs nothing."""

from attrs import frozen

from discreet.adaptive.gated.holdout_plan import HoldoutPlan
from discreet.adaptive.row_values import DeclaredRange
from discreet.project.project import Project


@frozen(kw_only=True)
class FirstQuestions:
    """The first question, or the candidates of a choice, and the range that they have."""

    texts: tuple[str, ...]
    within: DeclaredRange
    is_choice: bool = False
    """Whether the texts are candidates; otherwise they are asked one after the other."""

    def require_possible(self, project: Project, plan: HoldoutPlan) -> None:
        """Refuse what the gate would refuse first; nothing is charged, and no row is looked at."""
        if self.is_choice:
            plan.in_order(project, self.texts, self.within)
        elif self.texts:
            plan.question(project, self.texts[0], self.within)
