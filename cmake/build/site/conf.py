# SPDX-License-Identifier: Apache-2.0
# Sphinx's settings of the site; the environment has the folders and the version (documents.cmake).
import logging
import os
import pathlib
import re

project = "fatlink"
version = release = os.environ["FATLINK_VERSION"]
copyright = "the authors of fatlink"
extensions = ["myst_parser", "breathe"]
myst_heading_anchors = 4
breathe_projects = {"fatlink": os.environ["FATLINK_XML"]}
breathe_default_project = "fatlink"
breathe_show_include = False
cpp_id_attributes = ["FATLINK_API", "FATLINK_PRIVATE", "FATLINK_C_API"]
html_theme = "furo"
html_title = "fatlink"
html_show_sourcelink = html_copy_source = False
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "native"


class NamespaceFilter(logging.Filter):
    """Breathe declares the namespace once for each header."""

    def filter(self, record):
        return "Declaration is '.. cpp:type:: fatlink'" not in record.getMessage()


def include_debian_styles(app, error):
    """Debian's furo imports a style sheet from the web server's root; the site has to work from any folder."""
    for path in pathlib.Path(app.outdir).rglob("*.css"):
        text = path.read_text()
        included = re.sub(r"@import url\((/javascript/[^)]*)\);?", lambda match: read_style("/usr/share" + match[1]), text)
        if included != text:
            path.write_text(included)


def read_style(path):
    return pathlib.Path(path).read_text() if pathlib.Path(path).exists() else ""


def setup(app):
    logging.getLogger("sphinx").handlers[1].filters.insert(0, NamespaceFilter())  # before warnings are counted
    app.connect("build-finished", include_debian_styles)
