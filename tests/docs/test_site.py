# SPDX-License-Identifier: Apache-2.0
"""The target docs: one site with C, C++, CMake, the program, Python and JSON, whose links lead somewhere."""
import ast
import html.parser
import os
import re
import unittest

from site_copy import BUILD, HEADERS, MISSING, SOURCE, SiteCopy


class PageReader(html.parser.HTMLParser):
    """The links, what the browser loads by itself, the anchors and the text of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.anchors, self.text = [], [], set(), ""
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        self.links += [values[key] for key in ("href", "src") if values.get(key)]
        if tag != "a":
            self.loaded += [values[key] for key in ("href", "src") if values.get(key)]

    def handle_data(self, data):
        self.text += data


def words(text):
    return " ".join(text.replace("\xa0", " ").split())


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = SiteCopy()
        cls.addClassCleanup(cls.site.remove)
        for step in (cls.site.run_doxygen, cls.site.make_pages, cls.site.run_sphinx):
            done = step()
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
        cls.folder = cls.site.folder / "html"
        cls.pages = {str(path.relative_to(cls.folder)): PageReader(path) for path in cls.folder.rglob("*.html")}

    def local_links(self, name):
        """(file, anchor) of a page's links into the site; the file is relative to the site."""
        for link in self.pages[name].links:
            if not re.match(r"[a-z]+:", link):
                file, _, anchor = link.partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(name), file.partition("?")[0])) if file else name
                yield path, anchor

    def test_has_no_link_that_leads_nowhere(self):
        broken, count = [], 0
        for name in self.pages:
            for file, anchor in self.local_links(name):
                count += 1
                if not (self.folder / file).is_file() or anchor and file in self.pages and anchor not in self.pages[file].anchors:
                    broken.append(f"{name}: {file}#{anchor}")
        self.assertEqual(broken, [])
        self.assertGreater(count, 500)

    def test_loads_nothing_from_the_network(self):
        for name, page in self.pages.items():
            self.assertEqual([link for link in page.loaded if re.match(r"([a-z]+:)?//", link)], [], name)
        for path in self.folder.rglob("*.css"):
            self.assertNotRegex(path.read_text(), r"@import|url\(['\"]?(https?:)?//", path.name)

    def test_names_every_page_in_the_navigation_of_the_first_page(self):
        pages = {file for file, _ in self.local_links("index.html")}
        self.assertEqual({name for name in self.pages if not name.startswith("api/")} - pages - {"index.html", "genindex.html"}, set())
        headers = {file for file, _ in self.local_links("api/index.html")}
        self.assertEqual({name for name in self.pages if name.startswith("api/")} - headers, set())

    def test_has_every_document(self):
        self.assertEqual({f"{path.stem}.html" for path in (SOURCE / "docs").glob("*.md")} - set(self.pages), set())

    def test_has_every_header_with_its_symbols_and_no_private_ones(self):
        for path in (SOURCE / HEADERS).rglob("*.h*"):
            self.assertIn(f"api/{path.name.replace('.', '_')}.html", self.pages)
        text = words(self.pages["api/linker_hpp.html"].text)
        for part in ("Links inputs of every form", "class linker", "linked_image link(", "unavailable_error"):
            self.assertIn(part, text)
        self.assertNotIn("state_", text)
        self.assertIn("fatlink_link_options", words(self.pages["api/link_h.html"].text))

    def test_has_the_generated_parts_of_documents(self):
        for name, part in (("json", "files[].entries[].ident.elements.*.dtype"), ("python_reference", "gpu_count() -> int"),
                           ("reference_device", "activemask .b32 sm_75")):
            self.assertIn(part, words(self.pages[f"{name}.html"].text))
            self.assertNotIn("target documents", self.pages[f"{name}.html"].text)

    def test_has_every_name_of_the_python_package(self):
        tree = ast.parse((SOURCE / "host/python/fatlink/__init__.py").read_text())
        names = next(ast.literal_eval(node.value) for node in tree.body
                     if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
        text = self.pages["python_reference.html"].text
        self.assertEqual([name for name in names if name not in text], [])

    def test_has_every_cmake_function_and_its_arguments(self):
        page = self.pages["cmake_functions.html"]
        files = [path for path in (SOURCE / "cmake").glob("Fatlink*.cmake") if "rst:" in path.read_text()]
        self.assertEqual(len(files), 4)
        for path in files:
            name = re.search(r"^function\((fatlink_\w+)", path.read_text(), re.MULTILINE)[1]
            with self.subTest(name=name):
                self.assertIn(name.replace("_", "-"), page.anchors)
                self.assertIn(f"{name}(<", page.text)
        self.assertNotIn("``", page.text)

    def test_has_every_section_and_option_of_the_manual_page(self):
        page, source = self.pages["manual.html"], (BUILD / "share/man/man1/fatlink.1").read_text()
        text = words(page.text)
        sections = re.findall(r'^\.S[HS] "?(.*?)"?$', source, re.MULTILINE)
        options = re.findall(r"^\.TP\n.*(\\-\\-(?:\w|\\-)+)", source, re.MULTILINE)
        self.assertGreater(len(options), 80)
        for part in sections + options:
            self.assertIn(part.replace("\\-", "-"), text)
        self.assertNotRegex(text, r"\\[-f&|~(]|amp;|&[a-z]+;")
        self.assertIn("fatlink [command] --help fatlink --version", text)

    def test_finds_words_of_every_interface(self):
        index = (self.folder / "searchindex.js").read_text()
        for word in ("fatlink_add_contract", "linker_settings", "fatlink_link_options", "segmented_reduce"):
            self.assertIn(word, index)


class Pages(unittest.TestCase):
    """What make_pages.py writes for Sphinx, of changed sources."""

    def setUp(self):
        self.site = SiteCopy()
        self.addCleanup(self.site.remove)

    def page(self, name):
        done = self.site.make_pages()
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.site.folder / "pages" / f"{name}.md").read_text()

    def test_lead_to_pages_of_the_site_and_to_nothing_else_of_the_repository(self):
        self.site.append("docs/python.md", "[a](cache.md#the-key) [b](../host/cli/main.cpp) [c](https://example.com/x) "
                                           "[d](../host/include/fatlink/link_options.hpp) [e](#errors)\n")
        self.assertTrue(self.page("python").endswith(
            "[a](cache.md#the-key) b [c](https://example.com/x) [d](api/link_options_hpp.rst) [e](#errors)\n"))

    def test_leave_blocks_of_code_as_they_are(self):
        self.site.append("docs/python.md", "```python\n# [a](cache.txt)\n```\n")
        self.assertTrue(self.page("python").endswith("```python\n# [a](cache.txt)\n```\n"))

    def test_refuse_a_macro_of_the_manual_page_that_they_do_not_know(self):
        self.site.append("fatlink.1", ".URL x\n")
        done = self.site.make_pages()
        self.assertEqual(done.returncode, 1)
        self.assertIn("the manual page has a macro that the site does not know: .URL", done.stderr)


if __name__ == "__main__":
    unittest.main()
