"""The site: what Sphinx makes of these pages, of the plugins' README files and of the docstrings.

sphinx-build -W docs build/site
"""

import inspect

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

project = "tenterhooks"
author = "The tenterhooks authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
# The index for a code host, which index.md includes.
exclude_patterns = ["README.md"]

html_theme = "furo"
pygments_dark_style = "monokai"
html_title = "tenterhooks"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False

# As code hosts make the anchors of headings.
myst_heading_anchors = 4

autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "inherited-members": "BaseException,object",
    "show-inheritance": True,
}
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
napoleon_use_ivar = True
# Docstrings write code as Markdown does.
default_role = "code"


def take_readmes_in(app: Sphinx, env: BuildEnvironment, *changes: set[str]) -> list[str]:
    """Make pages of the plugins' README files, which lie beside their sources: links to them are as on a code host."""
    pages = {f"plugins/{path.parent.name}": path for path in app.srcdir.resolve().glob("../plugins/*/README.md")}
    for name, path in pages.items():
        env.project.docnames.add(name)
        env.project._docname_to_path[name] = path.resolve()
        env.project._path_to_docname[path.resolve()] = name
    return list(pages)


def keep_sentences(app: Sphinx, what: str, name: str, of: object, options: object, lines: list[str]) -> None:
    """Undo what napoleon does to a property whose first sentence has a colon: what stands before it is no type."""
    if what == "property":
        lines[:] = [*(inspect.getdoc(of) or "").splitlines(), ""]


def setup(app: Sphinx) -> None:
    """Register the two."""
    app.connect("env-get-outdated", take_readmes_in)
    app.connect("autodoc-process-docstring", keep_sentences, priority=900)
