# SPDX-License-Identifier: Apache-2.0
"""The manual page as a page of the site: the macros of man(7) that it uses, as Markdown and HTML. An unknown macro is an error."""
import html
import re

JOIN = "\0"  # of \\c: the next line continues this one
ESCAPES = {"-": "-", "|": "", "&": "", ":": "", "~": "&nbsp;", " ": " ", "(ti": "~", "(lq": "&ldquo;", "(rq": "&rdquo;", "(em": "&mdash;",
           "e": "\\", "c": JOIN}
TAGS = {"B": "b", "I": "i"}


def inline(text):
    """Text with escapes: fonts, and characters."""
    result, font = "", ""
    for part in re.split(r"(\\f.|\\\(..|\\.)", text):
        if part.startswith("\\f"):
            result += f"</{font}>" if font else ""
            font = TAGS.get(part[2], "")
            result += f"<{font}>" if font else ""
        elif part.startswith("\\"):
            result += ESCAPES[part[1:]]
        else:
            result += html.escape(part, quote=False)
    return result + (f"</{font}>" if font else "")


def arguments(text):
    """The arguments of a macro, in quotes or with escaped spaces."""
    return [part.strip('"') for part in re.findall(r'"[^"]*"|(?:\\.|[^ \\])+', text)]


def fonts(macro, text):
    """.B, .I: one font; .BR, .IR, .RB, .RI, .BI: arguments alternate."""
    words = arguments(text)
    if len(macro) == 1:
        return f"<{TAGS[macro]}>{inline(' '.join(words))}</{TAGS[macro]}>"
    tags = [TAGS.get(macro[index % 2]) for index in range(len(words))]
    return "".join(f"<{tag}>{inline(word)}</{tag}>" if tag else inline(word) for tag, word in zip(tags, words))


class Page:
    """Collects the page's sections: headings of Markdown, and HTML between them."""

    def __init__(self):
        self.parts, self.open, self.term, self.is_synopsis = [], [], False, False

    def close(self, *keep):
        """Closes elements until one of `keep` is the innermost."""
        while self.open and self.open[-1] not in keep:
            self.parts.append(f"</{self.open.pop()}>")

    def start(self, tag, attributes=""):
        self.open.append(tag)
        self.parts.append(f"<{tag}{attributes}>")

    def heading(self, level, title):
        self.close()
        title = " ".join(arguments(title))
        self.parts.append(f"\n```\n\n{level} {title}\n\n```{{raw}} html\n")

    def paragraph(self):
        self.close()
        self.start("p")

    def item(self):
        """.TP: the next line is the term, what follows its meaning."""
        self.close("dl")
        if not self.open:
            self.start("dl")
        self.term = True
        self.start("dt")

    def continued(self, mark):
        """.IP: a paragraph of the item, or of a list with a mark."""
        if mark:
            self.paragraph()
            self.parts.append(inline(mark) + " ")
        elif "dd" in self.open:
            self.close("dd")
            self.start("p")
        else:
            self.paragraph()

    def line(self, text):
        if not self.open:
            self.start("p")
        self.parts.append(text + "\n")
        if self.term:
            self.term = False
            self.close("dl")
            self.start("dd")

    def macro(self, name, text):
        if name in ("SH", "SS"):
            self.heading("##" if name == "SH" else "###", text)
        elif name in ("PP", "YS"):
            self.paragraph()
        elif name == "TP":
            self.item()
        elif name == "IP":
            self.continued((arguments(text) or [""])[0])
        elif name == "SY":
            self.close()
            self.start("p")
            self.line(f"<b>{inline(' '.join(arguments(text)))}</b>")
        elif name == "OP":
            self.line(f"[<b>{inline(arguments(text)[0])}</b> <i>{inline(' '.join(arguments(text)[1:]))}</i>]")
        elif name == "EX":
            self.close("dd")
            self.start("pre", ' class="fragment"')
        elif name == "EE":
            self.close("dd")
        elif re.fullmatch("B|I|BR|IR|RB|RI|BI", name):
            self.line(fonts(name, text))
        elif name not in ("in", "TH"):
            raise ValueError(f"the manual page has a macro that the site does not know: .{name}")


def manual_page(text):
    page = Page()
    for line in text.splitlines():
        if line.startswith(('.\\"', "'\\\"")):
            continue
        if line.startswith("."):
            name, _, rest = line[1:].partition(" ")
            page.macro(name, rest.strip())
        else:
            page.line(inline(line))
    page.close()
    text = "# Manual page: fatlink(1)\n\n```{raw} html\n" + "".join(page.parts).replace(JOIN + "\n", "") + "\n```\n"
    return re.sub(r"```\{raw\} html\n\s*```\n", "", text)  # between two headings
