"""Find names of ours as Sphinx does, and leave those of other libraries alone at once.

Signatures name a few dozen things that are not ours, thousands of times. Sphinx compares each with
the end of every name of the site, which takes a sixth of the time of a build.
"""

from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain


class KnownNames(PythonDomain):
    """Python names; one whose last part is that of no name of the site is not looked for.

    All that could be found ends with the name that is looked for, so its last part is the same.
    """

    def find_obj(
        self, env: Any, modname: str, classname: str, name: str, *given: Any, **named: Any
    ) -> list[Any]:
        """Find what a name may mean, as the domain does."""
        if _last(name.removesuffix("()")) not in self._last_parts():
            return []
        return super().find_obj(env, modname, classname, name, *given, **named)

    def _last_parts(self) -> set[str]:
        size, parts = getattr(self, "_parts_of", (0, set[str]()))
        if size != len(self.objects):
            parts = {_last(known) for known in self.objects}
            self._parts_of = (len(self.objects), parts)
        return parts


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def setup(app: Sphinx) -> dict[str, bool]:
    """Take the place of Sphinx's own domain."""
    app.add_domain(KnownNames, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
