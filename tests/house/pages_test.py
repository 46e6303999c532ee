"""Proves: the pages for users say what is so, and can be read. Every message of a run with exit status 2 to 7 stands in
docs/troubleshooting.md, and nothing else; every test that docs/tested-with.md names exists; each script in a page is run by a test.
(commands/documents runs the commands, house/language counts words.)
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2]
sys.path.append(str(SOURCES / "tests"))
from pages import BY_TASK, DOCS, blocks_of, messages_of, says  # noqa: E402

BUILD_TREE = ""
STATUSES = {"bad_input": 2, "undrained": 3, "lost": 4, "conflict": 5, "pool_full": 6, "busy": 7}
# What their errors say of a wrong call is for developers.
INNER_ROOMS = {"publish"}
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def literals_of_call(text, at):
    """Those of the rest of the call, or of the initialiser, that `at` is in."""
    depth, found = 0, []
    while at < len(text) and depth >= 0 and text[at] != ";":
        if literal := LITERAL.match(text, at):
            found.append(literal[1])
            at = literal.end()
            continue
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(text[at], 0)
        at += 1
    return found


def without_comments(text):
    return re.sub(r'"\s*\n\s*"', "", re.sub(r'//[^\n"]*\n', "\n", text.replace("'\"'", "")))


def messages_in(text):
    """(status, words) of each error that is made with one; the words of a call are kept apart by NUL."""
    text = without_comments(text)
    for code in re.finditer(r"Code::(\w+)(?=,|\s)", text):
        words = literals_of_call(text, code.end())
        if code[1] in STATUSES and any(re.search("[a-z]{3} ", each) for each in words):
            yield STATUSES[code[1]], "\0".join(words).replace(r"\"", '"')


def lines_in(text):
    """Words of what a summary says without a status of its own."""
    text = without_comments(text)
    for said in re.finditer(r"messages\.push_back\(|\.note\((?!Code)", text):
        words = literals_of_call(text, said.end())
        if any(re.search("[a-z]{3} ", each) for each in words):
            yield "\0".join(words)


def sources():
    for path in sorted((SOURCES / "src/run").rglob("*.cpp")):
        if not {"tests", "bench"} & set(path.parts):
            yield path, path.read_text()


def troubles_of(page, texts):
    """`texts`: (room, source)."""
    rows = list(messages_of(page))
    made = [(room, *each) for room, text in texts for each in messages_in(text)]
    everything = "\0".join(literal for _, text in texts for literal in LITERAL.findall(without_comments(text)))
    for room, status, words in made:
        if room not in INNER_ROOMS and not any(
            status == of and says(each, words) for of, messages in rows for each in messages
        ):
            yield f"no row of status {status} for: {words!r}"
    for words in (words for _, text in texts for words in lines_in(text)):
        if not any(says(each, words) for _, messages in rows for each in messages):
            yield f"no row for: {words!r}"
    for status, messages in rows:
        for each in messages:
            of = {code for _, code, words in made if says(each, words)}
            if of and status not in of | {0}:
                yield f"{each!r} is of status {of}, not {status}"
            if not of and not all(piece in everything for piece in each.split("...")):
                yield f"nobody says {each!r}"


def words_said(report, status):
    """The words at the beginning of the lines of the summary and of `forebay status`, as their sources print them."""
    summary = set(re.findall(r'\b(?:line|pace)\("([a-z ]+)"', report)) | {"!"}
    of_status = set(re.findall(r'\{:<20\}.*?\\n"\s*,\s*"([a-z ,]+)"', status))
    of_status |= {re.sub(r" (?:on)?$", "", each) for each in re.findall(r'print\("((?:run|checkpoint) )\{\}', status)}
    return summary, of_status | set(re.findall(r'print\("(job on|kept for the next run)\b', status))


def words_explained(page):
    """Those of both tables of docs/words.md."""
    return [set(re.findall(r"(?m)^\| `([^`]+)`", part)) for part in page.split("\n## ")[1:]]


class PagesTest(unittest.TestCase):
    def test_every_message_has_a_row_and_every_row_a_message(self):
        texts = [(path.relative_to(SOURCES / "src/run").parts[0], text) for path, text in sources()]
        self.assertEqual(list(troubles_of((DOCS / "troubleshooting.md").read_text(), texts)), [])
        self.assertGreater(sum(len(list(messages_in(text))) for _, text in texts), 100)

    def test_a_message_without_a_row_and_a_row_without_a_message_would_be_found(self):
        made = 'return error(Code::lost, "the pool was "\n    "eaten:", path, "feed it");\n'
        right = "## 4: lost\n\n| `the pool was eaten:`, `pool ... eaten:` | by whom | see there |\n"
        self.assertEqual(list(troubles_of(right, [("drain", made)])), [])
        for page, expected in (
            (right.replace("## 4", "## 3"), "no row of status 4"),
            (right.replace("eaten:`,", "drunk:`,"), "nobody says 'the pool was drunk:'"),
            ("## 4: lost\n", "no row of status 4"),
        ):
            self.assertIn(expected, "\n".join(troubles_of(page, [("drain", made)])))
        (trouble,) = troubles_of(right, [("drain", made + 'run.note(std::nullopt, "an egg is left");\n')])
        self.assertIn("no row for: 'an egg is left'", trouble)

    def test_every_word_of_the_summary_and_of_status_is_explained(self):
        run = SOURCES / "src/run"
        status = (run / "cli/status.cpp").read_text()
        said = words_said((run / "launch/report.cpp").read_text(), status)
        page = (DOCS / "words.md").read_text()
        self.assertEqual(words_explained(page), list(said))
        self.assertGreater(min(map(len, said)), 12)
        (phases,) = re.findall(r"phase_names\{(.*?)\}", (run / "launch/report.cpp").read_text())
        for phase in re.findall(r'"(\w+)"', phases):
            self.assertIn(f"`{phase}`", page)
        for other in ("quickstart", "after-a-crash", "run/watch", "exit-codes"):
            self.assertIn("words.md)", (DOCS / f"{other}.md").read_text(), other)

    def test_a_word_that_is_not_explained_would_be_found(self):
        status = 'fmt::print("run {} on {}\\n", a); fmt::print("  {:<20}{} in {}{}\\n", "new word", b);'
        self.assertEqual(
            words_said('line("wall time", a); pace("per step", b);', status),
            ({"wall time", "per step", "!"}, {"run", "new word"}),
        )
        self.assertEqual(words_explained("# A\n\n## B\n\n| `run` | x |\n| `!` | y |\n\n## C\n"), [{"run", "!"}, set()])

    def test_the_tests_that_pages_name_exist(self):
        known = set()
        for configuration in ("Builds", "Nfs", "Packages"):  # those that are only there when they are asked for, too
            words = ["ctest", "--test-dir", BUILD_TREE, "-N", "-C", configuration]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            known.update(re.findall(r"(?m)^ +Test +#\d+: (\S+)", done.stdout))
        self.assertGreater(len(known), 100)
        tops = {name.split("/")[0] for name in known}
        named = set()
        for page in BY_TASK:
            text = (DOCS / f"{page}.md").read_text()
            named |= {
                (page, each) for each in re.findall(r"`([a-z_0-9]+/[\w/.*]+)`", text) if each.split("/")[0] in tops
            }
        self.assertGreater(len(named), 25)
        for page, each in sorted(named):
            pattern = re.compile(re.escape(each).replace(r"\*", ".*"))
            self.assertTrue(any(map(pattern.fullmatch, known)), f"{page}.md names a test {each}")

    def test_each_script_that_is_not_run_where_it_stands_has_a_test_that_runs_it(self):
        tests = "".join(
            path.read_text() for path in (SOURCES / "tests").rglob("*") if path.is_file() and path.suffix in ("", ".py")
        )
        for page in sorted(DOCS.rglob("*.md")):
            text = page.read_text()
            for number, name, _ in (*blocks_of(text, "sh"), *blocks_of(text, "toml")):
                asked = name is None or re.search(rf'listing[ (]"?{name}\b', tests)
                self.assertTrue(asked, f"{page.name}:{number}: nobody runs the listing {name}")

    def test_pages_by_task_are_linked_from_the_first_page(self):
        readme = (SOURCES / "README.md").read_text()
        for page in BY_TASK:
            self.assertTrue(f"(docs/{page}.md)" in readme, page)


if __name__ == "__main__":
    BUILD_TREE = sys.argv.pop(1)
    unittest.main()
