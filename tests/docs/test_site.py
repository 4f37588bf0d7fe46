# SPDX-License-Identifier: Apache-2.0
"""The target docs: one index of the C, C++, CMake, command-line and Python pages, whose links lead somewhere."""
import ast
import functools
import html.parser
import re
import shutil
import unittest

from site_copy import BUILD, SOURCE, SiteCopy


class PageReader(html.parser.HTMLParser):
    """The links, the anchors and the text of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.text = [], set(), ""
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        self.links += [values[key] for key in ("href", "src") if values.get(key)]

    def handle_data(self, data):
        self.text += data


def words(text):
    return " ".join(text.replace("\xa0", " ").split())


@unittest.skipIf(shutil.which("doxygen") is None, "doxygen is not installed")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.site = SiteCopy()
        cls.addClassCleanup(cls.site.remove)
        done = cls.site.run_doxygen()
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        cls.folder = cls.site.folder / "html"
        names = [path.stem for path in (cls.site.folder / "pages").iterdir()]
        cls.pages = {f"{name}.html": PageReader(cls.folder / f"{name}.html") for name in ("index", *names)}

    def local_links(self, name):
        """(file, anchor) of a page's links into the site."""
        for link in self.pages[name].links:
            if not re.match(r"[a-z]+:", link):
                file, _, anchor = link.partition("#")
                yield file or name, anchor

    @classmethod
    @functools.cache
    def anchors_of(cls, name):
        return (cls.pages[name] if name in cls.pages else PageReader(cls.folder / name)).anchors

    def test_has_a_section_for_each_interface_in_its_index(self):
        text = (self.folder / "index.html").read_text()
        titles = [words(re.sub(r"<[^>]*>", "", title)) for title in re.findall(r"<h1>(.*?)</h1>", text, re.DOTALL)]
        self.assertEqual(titles, ["C interface", "C++", "CMake", "Command line", "Python", "Design and measurements"])

    def test_has_no_link_that_leads_nowhere(self):
        broken, count = [], 0
        for name in self.pages:
            for file, anchor in self.local_links(name):
                count += 1
                if not (self.folder / file).is_file() or anchor and file.endswith(".html") and anchor not in self.anchors_of(file):
                    broken.append(f"{name}: {file}#{anchor}")
        self.assertEqual(broken, [])
        self.assertGreater(count, 500)

    def test_names_every_page_in_its_index(self):
        pages = {file for file, _ in self.local_links("index.html")}
        self.assertEqual(set(self.pages) - {"index.html"} - pages, set())
        self.assertLessEqual({"fatlink_8h.html", "annotated.html", "files.html"}, pages)
        for name in ("classfatlink_1_1linker.html", "classfatlink_1_1fatbin.html"):
            self.assertTrue((self.folder / name).exists(), name)

    def test_has_every_document(self):
        documents = {f"doc-{path.stem.replace('_', '-')}.html" for path in (SOURCE / "docs").glob("*.md")}
        self.assertEqual({name for name in self.pages if name.startswith("doc-")}, documents)

    def test_has_the_generated_parts_of_documents(self):
        for name, part in (("json", "files[].entries[].ident.elements.*.dtype"), ("python-reference", "gpu_count() -> int"),
                           ("reference-device", "activemask .b32 sm_75")):
            self.assertIn(part, words(self.pages[f"doc-{name}.html"].text))
            self.assertNotIn("target documents", self.pages[f"doc-{name}.html"].text)

    def test_has_every_name_of_the_python_package(self):
        tree = ast.parse((SOURCE / "host/python/fatlink/__init__.py").read_text())
        names = next(ast.literal_eval(node.value) for node in tree.body
                     if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
        anchors = self.pages["doc-python-reference.html"].anchors
        sections = {f"doc-python-reference--{name.lower().replace('_', '-')}" for name in names}
        self.assertEqual(sections - anchors - {"doc-python-reference--cache"}, set())
        self.assertIn("doc-python-reference--fatlinkcache", anchors)
        self.assertIn("gpu_count() -> int", self.pages["doc-python-reference.html"].text)

    def test_has_every_cmake_function_and_its_arguments(self):
        page = self.pages["cmake-functions.html"]
        files = [path for path in (SOURCE / "cmake").glob("Fatlink*.cmake") if "rst:" in path.read_text()]
        self.assertEqual(len(files), 4)
        for path in files:
            name = re.search(r"^function\((fatlink_\w+)", path.read_text(), re.MULTILINE)[1]
            with self.subTest(name=name):
                self.assertIn(f"cmake--{name.replace('_', '-')}", page.anchors)
                self.assertIn(f"{name}(<", page.text)
        self.assertNotIn("``", page.text)

    def test_has_every_section_and_option_of_the_manual_page(self):
        page, source = self.pages["manual.html"], (BUILD / "share/man/man1/fatlink.1").read_text()
        text = words(page.text.partition("Table of Contents")[2])
        sections = re.findall(r'^\.S[HS] "?(.*?)"?$', source, re.MULTILINE)
        options = re.findall(r"^\.TP\n.*(\\-\\-(?:\w|\\-)+)", source, re.MULTILINE)
        self.assertGreater(len(options), 80)
        for part in sections + options:
            self.assertIn(part.replace("\\-", "-"), text)
        self.assertNotRegex(text, r"\\[-f&|~(]|amp;|&[a-z]+;")
        self.assertIn("fatlink [command] --help fatlink --version", text)


class Pages(unittest.TestCase):
    """What make_pages.py writes for Doxygen, of changed sources."""

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
        self.assertTrue(self.page("doc-python").endswith(
            "[a](doc-cache.html#doc-cache--the-key) b [c](https://example.com/x) "
            "[d](link__options_8hpp_source.html) [e](doc-python.html#doc-python--errors)\n"))

    def test_leave_blocks_of_code_as_they_are(self):
        self.site.append("docs/python.md", "```python\n# [a](cache.md)\n```\n")
        self.assertTrue(self.page("doc-python").endswith("```python\n# [a](cache.md)\n```\n"))

    def test_give_two_sections_of_one_title_two_names(self):
        self.site.append("docs/python.md", "\n## Traps\n\n## Traps\n")
        self.assertIn("## Traps {#doc-python--traps}\n\n## Traps {#doc-python--traps-1}\n", self.page("doc-python"))

    def test_refuse_a_macro_of_the_manual_page_that_they_do_not_know(self):
        self.site.append("fatlink.1", ".URL x\n")
        done = self.site.make_pages()
        self.assertEqual(done.returncode, 1)
        self.assertIn("the manual page has a macro that the site does not know: .URL", done.stderr)


if __name__ == "__main__":
    unittest.main()
