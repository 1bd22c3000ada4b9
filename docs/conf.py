"""How the documentation site is built: strictly, offline, from Markdown and docstrings."""

import gc
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# A build keeps nearly all that it makes: to look for garbage takes a quarter of its time.
gc.disable()

project = "Discreet"
author = "The Discreet authors"
copyright = author
version = release = installed_version("discreet")
language = "en-GB"

extensions = [
    "docs._ext.api_pages",
    "docs._ext.bibliography",
    "docs._ext.known_names",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
if "sources" in tags:  # type: ignore[name-defined]  # noqa: F821 - Sphinx gives it
    extensions.append("sphinx.ext.viewcode")
exclude_patterns = ["_build", "_ext"]

# ---------------------------------------------------------------- pages in Markdown

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# ---------------------------------------------------------------- pages from docstrings

add_module_names = False
# Each page carries the whole tree of contents: modules are entries, their 4,000 names are not.
toc_object_entries = False
autodoc_class_signature = "mixed"
autodoc_typehints = "signature"
autodoc_use_type_comments = False
napoleon_custom_sections = ["Guarantee", "Assumes", "Utility", "Proof"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# The build never fetches anything, so names of other libraries are not checked; ours are.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(?!discreet\.).*"),
    (r"py:.*", r"discreet\..*\.(T|_Asked|_Told)"),
]

# A work may be listed before it is cited; a house test sees that each cited key exists.
suppress_warnings = ["ref.citation"]

# ---------------------------------------------------------------- looks

html_theme = "furo"
html_title = "Discreet"
html_show_copyright = False
