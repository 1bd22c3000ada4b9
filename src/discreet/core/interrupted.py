"""Interrupted: somebody pressed Ctrl-C while an answer was under way. It says what was charged."""

_AGAIN = (
    "The work goes on without you and is settled as if you had waited. Ask the same question again"
    " (not as a fresh one): if it was answered in the meantime, it costs nothing"
)


class Interrupted(KeyboardInterrupt):
    """The wait for an answer was broken off. No failure: an interrupt changes who waits.

    Guarantee:
        ``spent`` is what the ledger was charged, durably, or nothing if the interrupt came before
        the charge. Nothing in it depends on what the work did, or whether it is done.

    Example:
        >>> print(Interrupted())
        Interrupted before the charge. Nothing was spent.
        >>> Interrupted("ε = 0.5 of 'patients'").what
        "Interrupted after the charge: ε = 0.5 of 'patients' is spent"
    """

    code = "interrupted"

    def __init__(self, spent: str = "") -> None:
        self.spent = spent
        what = f"after the charge: {spent} is spent" if spent else "before the charge"
        self.what = f"Interrupted {what}"
        self.next = _AGAIN if spent else "Nothing was spent"
        super().__init__(f"{self.what}. {self.next}.")

    def to_json(self) -> dict[str, dict[str, str]]:
        """Return it in the form that errors have."""
        parts = {"code": self.code, "what": self.what, "must": "", "got": "", "next": self.next}
        return {"error": parts}
