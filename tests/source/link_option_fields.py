# SPDX-License-Identifier: Apache-2.0
"""The fields of the struct link_options that are options of a link: they change its image, or how it is made."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
# Fields that say which link is asked for. Every interface has them as arguments of their own.
WHICH_LINK = ("target", "mode", "emit")


def link_option_fields():
    """The names of the fields, in the order of host/include/fatlink/link_options.hpp."""
    text = (SOURCE / "host/include/fatlink/link_options.hpp").read_text()
    body = re.search(r"^struct link_options \{\n(.*?)^\};", text, re.DOTALL | re.MULTILINE)[1]
    names = re.findall(r"(\w+) = [^;]*;", re.sub(r"//[^\n]*", "", body))
    return [name for name in names if name not in WHICH_LINK]
