"""How the site is built: `make docs`, or `sphinx-build -W --keep-going -b html docs docs/_build/html`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "dpaudit"
author = "the dpaudit authors"
release = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "myst_nb",  # Markdown, and notebooks
    "sphinx_copybutton",
    "dpaudit_docs",  # the generated pages: docs/_ext
]

exclude_patterns = ["_build", "examples"]
root_doc = "index"
default_role = "code"  # docstrings put names between single backticks

html_theme = "furo"
html_title = f"dpaudit {release}"
html_static_path = ["_static"]
html_css_files = ["dpaudit.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
# only what is typed is copied: no prompt, no output
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

myst_enable_extensions = ["deflist", "attrs_inline"]
myst_heading_anchors = 3
# outputs are committed with a notebook, and a test executes it
nb_execution_mode = "off"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_param = False  # "epsilon, delta: the claim" names two arguments in one entry
napoleon_use_rtype = False
napoleon_use_ivar = True  # an attribute that autodoc documents is not described a second time
python_maximum_signature_line_length = 90
add_module_names = False
toc_object_entries_show_parents = "hide"

nitpicky = True
nitpick_ignore_regex = [
    # types of Python, numpy and scipy: their inventories would have to be fetched from the network
    (r"py:.*", r"(?!dpaudit).*"),
    # private bases and type variables, which signatures name
    (r"py:.*", r"dpaudit\.([\w.]+\.)?(_\w+|[A-Z])"),
    # types within the package that are no part of its interface
    (r"py:class", r"dpaudit\.(outputs\.ranges\.Spread|language\.distributions\.(base\.Tail|real\.(Clipped)?Integer))"),
    (r"py:class", r"dpaudit\.(outputs\.(form\.Forms|canonical\.Raised)|language\.containers\.Container)"),
    (r"py:class", r"dpaudit\.(outputs\.columns\.Axis|plans\.request\.ComparisonSpec|api\.functions\.Settings)"),
]
