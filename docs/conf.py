"""How Sphinx makes the pages of this directory into a site: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

from acp_host import __version__  # noqa: E402  # the path comes first

project = "acp_host"
smartquotes = False  # two hyphens are part of a command
author = copyright = "The acp-host authors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "api_pages", "names"]
exclude_patterns = ["_extensions", "examples/*.py", "news/*.*.md"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Toolkits: their names are enough. Installed or not, since PySide6 looks into what is imported behind it, and does not
# stand what takes the place of another toolkit.
autodoc_mock_imports = ["PySide6", "gi", "shiboken6"]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_use_ivar = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"acp_host {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2b5fb4", "color-brand-content": "#2b5fb4"},
    "dark_css_variables": {"color-brand-primary": "#8ab4f8", "color-brand-content": "#8ab4f8"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
# Of an example with a prompt, only what is typed is copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
