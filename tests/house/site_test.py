"""Proves: the documentation site has every page of the sources once, users' pages first and developers' behind a door of their own; its
links lead to pages and headings that are there. Needs no network: scripts/site_pages.py writes the pages, mkdocs.yml orders them."""

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2]
sys.path += [str(SOURCES / "scripts"), str(SOURCES / "tests")]
import site_pages  # noqa: E402
from pages import BY_TASK, anchors_of, links_of  # noqa: E402

NAV = (SOURCES / "mkdocs.yml").read_text().split("\nnav:\n")[1]


def behind(door):
    """The pages of a part of the site, in order."""
    (part,) = [part for part in re.split(r"(?m)^  - ", NAV) if part.startswith(f"{door}:")]
    return re.findall(r": (\S+\.md)$", part, re.M)


def broken_links(pages):
    """`pages`: the text of each by its place."""
    for place, text in pages.items():
        for link, anchor in links_of(text):
            target = os.path.normpath(os.path.join(os.path.dirname(place), link)) if link else place
            if target not in pages:
                yield f"{place}: {link}"
            elif anchor and anchor not in anchors_of(pages[target]):
                yield f"{place}: {link}#{anchor}"


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {place: content.decode(errors="replace") for place, content in site_pages.pages(SOURCES)}

    def test_every_page_is_there_once(self):
        listed = re.findall(r": (\S+\.md)$", NAV, re.M)
        self.assertEqual(sorted(listed), sorted(each for each in self.pages if each.endswith(".md")))

    def test_users_come_first_and_developers_have_a_door_of_their_own(self):
        doors = re.findall(r"(?m)^  - ([^:]+):$", NAV)
        self.assertEqual(doors, ["Using forebay", "In your code", "Reference", "Developers"])
        self.assertLessEqual(
            {"index.md", "install.md", *(f"{page}.md" for page in BY_TASK)}, set(behind("Using forebay"))
        )
        installed = (SOURCES / "CMakeLists.txt").read_text().split("install(DIRECTORY docs ")[1].split(")\n")[0]
        left_out = re.findall(r"PATTERN (\S+\.md) EXCLUDE", installed)
        self.assertLessEqual({"design.md", *left_out}, set(behind("Developers")))
        self.assertEqual(behind("Developers"), list(site_pages.FOR_DEVELOPERS))
        self.assertLessEqual(set(site_pages.FIRST_SOUGHT), set(behind("Using forebay")))

    def test_links_lead_to_pages_and_headings(self):
        self.assertEqual(list(broken_links(self.pages)), [])

    def test_a_broken_link_would_be_found(self):
        pages = {
            "a.md": "# One\n\n[b](sub/b.md#two) [x](#one)\n",
            "sub/b.md": "## Two\n\n[a](../a.md#one) [x](x.md) [y](#y)\n",
        }
        self.assertEqual(list(broken_links(pages)), ["sub/b.md: x.md", "sub/b.md: #y"])
        tree = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (tree / "docs").mkdir()
        (tree / "README.md").write_text("[a source](src/a.cpp)\n")
        for name in (*site_pages.OF_THE_PROJECT, *site_pages.PLAIN):
            (tree / name).write_text("\n")
        with self.assertRaisesRegex(site_pages.SiteError, r"README.md: src/a.cpp is not on the site"):
            list(site_pages.pages(tree))

    def test_the_headers_pages_have_every_function(self):
        for header in (SOURCES / "include/forebay").glob("*.h"):
            declared = re.findall(r"(?m)^\w[\w *]*?\b(forebay_\w+)\(", header.read_text())
            headings = re.findall(r"(?m)^## (.*)$", self.pages[f"api/{header.stem}_h.md"])
            self.assertLessEqual(set(declared), set(", ".join(headings).split(", ")), header.name)

    def test_the_commands_pages_have_every_option(self):
        for manual in (SOURCES / "docs/man").glob("*.1"):
            page = self.pages[f"commands/{manual.stem}.md"]
            options = set(
                re.findall(
                    r"--[a-z][a-z-]*", manual.read_text().replace("\\-", "-").replace("\\fR", "").replace("\\fB", "")
                )
            )
            self.assertLessEqual(options, set(re.findall(r"--[a-z][a-z-]*", page)), manual.name)
            self.assertNotIn("\\f", page)

    def test_lists_and_options_are_written_for_the_site(self):
        self.assertEqual(
            site_pages.with_lists("Two:\n- a\n  more\n  - b\n\n```\n  - c\n```"),
            "Two:\n\n- a\n  more\n    - b\n\n```\n  - c\n```",
        )
        self.assertEqual(
            site_pages.with_whole_options("say `--via` or `all`\n    `--x`"), "say `--via`{.whole} or `all`\n    `--x`"
        )


if __name__ == "__main__":
    unittest.main()
