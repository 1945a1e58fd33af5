"""Sphinx configuration of the site. `build_site.py` writes the pages, and calls Sphinx with it for each language."""

from search_words import SearchChinese, SearchKorean
from sphinx.application import Sphinx
from theme_words import add_words, replace_labels

_LIVE_WIDGET = "application/vnd.jupyter.widget-view+json"

project = "copylab"
extensions = ["myst_nb"]

html_theme = "furo"
html_title = "copylab"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
# A page that is opened from the disk may not fetch other files, which summaries would need.
html_show_search_summary = False
html_copy_source = False
html_show_sphinx = False
pygments_dark_style = "monokai"

nb_execution_excludepatterns = ["[0-9]*"]  # lessons show their stored outputs
# As a warning, which ends the build as well. An error in one of Sphinx's processes leaves it waiting for the others.
nb_execution_raise_on_error = False
nb_execution_show_tb = True
nb_execution_timeout = 120
# There is no kernel: the static form of a widget is shown, not its live view.
nb_mime_priority_overrides = [("*", _LIVE_WIDGET, None), ("html", "text/html", 0)]
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # the scripts would come from the network

myst_heading_anchors = 3
myst_heading_slug_func = "build_site.anchor_of_heading"
suppress_warnings = ["myst.header", "misc.highlighting_failure"]


def setup(app: Sphinx) -> None:
    """Have the search find words of Chinese and Korean, and the theme speak them."""
    app.add_search_language(SearchChinese)
    app.add_search_language(SearchKorean)
    app.connect("builder-inited", add_words)
    app.connect("build-finished", replace_labels)
