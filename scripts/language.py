#!/usr/bin/env python3
"""Counts what makes our sentences hard to read, in pages and in comments.

    language.py [--list] [--budget FILE] [ROOT] [PATH...]   PATH: only what lies there, below ROOT

It tells, for each room: sentences without a subject, sentences of more than 35 words, lines of more than 120 characters
(tables and listings of a page aside), and cells of a table with more than two sentences. Rooms are README, the pages for
users, the other pages, include, python, and the directories of src.

No grammar is known here, only how a sentence opens. A sentence counts as one without a subject where it
  - opens with a clause that stands for a noun ("What is left goes home."), unless it is a question;
  - opens with a pronoun that has no noun ("Those of others stay.", "The rest follows.");
  - is a clause of a condition, time, reason or place alone ("When it is first seen.");
  - has no verb behind its preposition or participle ("For the agent alone.", "Written once.");
  - opens with a verb ("Removes the file."), unless it is the first one of the comment on a declaration, which is its
    subject, or an imperative of a page.
What names a thing is no sentence and does not count ("The newest time."; and "of the case", in small letters and without a
full stop, behind a declaration).

--budget: exit status 1, and the findings, where a group of rooms has more of a kind than FILE grants.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

KINDS = ("headless", "long", "wide", "cells")
LONGEST = 35  # words
WIDEST = 120  # characters
USERS_PAGES = (
    "quickstart cluster-quickstart several-cases after-a-crash containers administrators faq troubleshooting words upgrade"
    " tested-with install exit-codes run/limits run/clusters run/openfoam run/code_saturne run/predict run/report"
    " run/configuration run/watch run/waits run/bench_io store/trajectory store/n3d arrays/arrays meshes/mesh"
).split()

# ---- how a sentence opens


def any_of(words: str) -> str:
    return "(?:" + "|".join(words.split()) + r")\b"


CLAUSE_AS_NOUN = re.compile(
    r"(?:what|whatever|whoever|whichever|who|whose)\b(?!')|that (?:the|a|an|it|they|there|no|its|their|some|this|these|we|one)\b"
)
NO_NOUN = re.compile(
    r"(?:of|those|these of|others|the rest|the others|the same of|(?:that|this|these) of|(?:one|ones|each|all|none|both|any) (?:that|which|of them|of which)"
    r"|such (?:that|as))\b"
)
CONDITION = re.compile(
    any_of("if when where while until unless because since before after as once how why whenever wherever though")
)
PREPOSITION = re.compile(
    any_of(
        "for by to in on at with without from into only not no not-even also but and or like until below above beside behind"
        " through during against within per across between among under over than nor never neither either then"
    )
)
# In the third person. Those of the second list are nouns as well, so that the next word has to tell.
VERB = re.compile(
    any_of(
        "accepts adds allocates appends asks assumes becomes begins brings carries chooses cleans collects compares completes computes"
        " contains creates decides decodes deletes does draws ensures enters executes expects fetches finds finishes forgets frees"
        " gathers gets gives goes happens has helps ignores includes inserts is joins keeps knows leaves lets makes means merges needs"
        " never opens overwrites parses prepares prints proves provides publishes puts raises receives refuses releases remembers"
        " removes renames repeats replaces requires resolves returns reuses says sees selects sends shows starts stops stores submits"
        " takes tells throws touches translates tries unlocks unmaps validates verifies waits yields"
    )
    + "|"
    + any_of(
        "answers blocks builds calls checks closes commits copies counts covers cuts drops ends exchanges fails fills follows grows holds"
        " launches lays lists loads locks looks maps marks matches measures moves names notes orders passes picks places plans posts"
        " ranks reads records reports resets restores runs searches sets skips sorts spills splits syncs tests turns updates uses"
        " visits wakes walks warns watches works writes"
    )
    + " (?:the|a|an|it|its|them|their|all|any|each|every|no|nothing|what|whatever|whether|only|this|these|when|where|until|with|how)\\b"
)
FINITE = re.compile(
    r"\b(?:is|are|was|were|isn't|has|have|had|do|does|did|can|could|cannot|may|might|must|shall|should|will|would|need"
    r"|(?:it|they|we|you|there) \w+"
    r"|(?:answer|become|begin|carry|come|connect|count|create|describe|differ|find|fit|follow|get|give|go|hold|keep|know|lie|look"
    r"|make|mean|move|read|rise|run|say|see|stand|start|stay|take|tell|use|wait|work|write)"
    rf"|{VERB.pattern})\b"
)
PARTICIPLE = re.compile(
    r"(?:\w+ed|taken|written|begun|made|kept|held|given|known|read|seen|found|set|sent|left|lost|built|drawn|put|done|gone|told|called)"
    r" (?:by|at|in|on|when|where|once|after|before|until|from|with|for|if|as|only|to|of|into|while|without|below|beside|here|so)\b"
)
LEADING = re.compile(r"^(?:[-*(\"'“]\s*)*")


def headless(sentence: str, declared: bool) -> bool:
    """Whether the sentence has no subject; `declared`: a declaration that the comment is on may be its subject."""
    text = LEADING.sub("", sentence)
    words = text.lower()
    if words.endswith(("?", ":")) or len(words.split()) < 3:
        return False
    if declared and text[0].islower() and not words.endswith("."):
        return False
    if CLAUSE_AS_NOUN.match(words) or NO_NOUN.match(words):
        return True
    if CONDITION.match(words):
        return not re.search(r"[,;:)]| then ", words) and len(FINITE.findall(words)) < 2
    if PREPOSITION.match(words) or PARTICIPLE.match(words):
        return not FINITE.search(words)
    return not declared and bool(VERB.match(words))


# ---- sentences


def words_of(sentence: str) -> int:
    return len(re.findall(r"[\w`'./$*{}=:-]+", sentence))


def parts_of(sentence: str) -> list[str]:
    """What a reader may rest after: a colon ends a part."""
    return re.split(r"(?<=[:])\s+", sentence)


def plain(text: str) -> str:
    """Code is one word, links are their text."""
    text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", text, flags=re.S)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text, flags=re.S)
    return re.sub(r"`[^`]+`", "CODE", text).replace("**", "")


def split(text: str) -> list[str]:
    return [each for each in re.split(r"(?<=[^.\s][.?!])[)']*\s+|(?<=\w[.?!])\"\s+", " ".join(text.split())) if each]


@dataclass
class Finding:
    room: str
    kind: str
    place: str
    text: str


@dataclass
class Passage:
    """Running text, with the number of its first line; `declared`: see headless()."""

    line: int
    text: str
    declared: bool = False


# ---- pages


def without_listings(text: str) -> str:
    """With as many lines."""

    def blank(match: re.Match) -> str:
        return "\n" * match[0].count("\n")

    text = re.sub(r"(?ms)^ *```.*?^ *```|<!--.*?-->", blank, text)
    return re.sub(r"(?m)^(?:    (?![-*\d] ).*|#.*)$", "", text)


def cells_of(text: str):
    """(line, cell) of every table."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|") and not re.fullmatch(r"[|: -]+", line):
            yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1])


def ends_in(cell: str) -> int:
    """How many sentences it has."""
    return len(re.findall(r"(?<!\.)[.?!](?=\s|$)", plain(cell).rstrip("."))) + 1


def passages_of_page(text: str):
    """Paragraphs and items of lists."""
    begin, lines = 0, []
    for number, line in enumerate([*without_listings(text).splitlines(), ""], 1):
        item = re.match(r"\s*(?:[-*]|\d+\.)\s+", line)
        if (not line.strip() or item or line.startswith("|")) and lines:
            yield Passage(begin, "\n".join(lines))
            lines = []
        if line.strip() and not line.startswith("|"):
            begin = begin if lines else number
            lines.append(line[item.end() :] if item else line)


# ---- comments

C_TOKEN = re.compile(
    r'R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)',
    re.S,
)
NO_WORDS = re.compile(r"clang-format|NOLINT|noqa|fmt: |type: ignore|ruff:|IWYU|^\W*[\w:]+=?\W*$")


def comments_of_c(text: str):
    """(line, column, words, whether code stands before it)"""
    for token in C_TOKEN.finditer(text):
        if token["line"] or token["block"]:
            start = token.start()
            before = text[text.rfind("\n", 0, start) + 1 : start]
            words = token[0][2:] if token["line"] else re.sub(r"(?m)^\s*\*+(?= |$)", "", token[0][2:-2])
            words = re.sub(r"(?m)^[/*!<]* ?", "", words).rstrip()
            yield text.count("\n", 0, start) + 1, len(before), words, bool(before.strip())


def comments_of_python(text: str):
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            row, column = token.start
            yield row, column, re.sub(r"^# ?|-{3,}", "", token.string).rstrip(), bool(lines[row - 1][:column].strip())


def docstrings_of(text: str):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node) is not None:
                yield Passage(node.body[0].lineno, ast.get_docstring(node), True)


def paragraphs_of(passage: Passage):
    """Of a comment, with its listings (indented by four) left out."""
    line, first = passage.line, True
    for block in re.split(r"(\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) ))", passage.text):
        kept = "\n".join(each for each in block.split("\n") if not each.startswith("    "))
        if kept.strip():
            yield Passage(line, kept, passage.declared and first)
            first = False
        line += block.count("\n")


def passages_of_source(path: Path, text: str):
    python = path.suffix == ".py"
    if python:
        yield from docstrings_of(text)
    lines = text.splitlines()
    run = []  # comments that follow each other in one column
    for line, column, words, behind_code in comments_of_python(text) if python else comments_of_c(text):
        if run and run[-1][0] + run[-1][2].count("\n") + 1 == line and run[-1][1] == column and not behind_code:
            run.append((line, column, words))
            continue
        yield from comment_of(run, lines)
        run = [(line, column, words)]
    yield from comment_of(run, lines)


def comment_of(run: list, lines: list[str]):
    if not run or all(NO_WORDS.search(words) for _, _, words in run):
        return
    line, column, _ = run[0]
    after = run[-1][0] + run[-1][2].count("\n")
    behind_code = bool(lines[line - 1][:column].strip())
    declared = behind_code or (after < len(lines) and bool(lines[after].strip()))
    yield Passage(line, "\n".join(words for _, _, words in run), declared)


# ---- rooms


def room_of(path: Path) -> str:
    parts = path.parts
    if parts[0] == "docs":
        return "users' pages" if str(path.relative_to("docs").with_suffix("")) in USERS_PAGES else "other pages"
    if parts[0] == "src" and len(parts) > 2:
        return "/".join(parts[:3] if parts[1] in ("run", "store") and len(parts) > 3 else parts[:2])
    return parts[0].removesuffix(".md")


def group_of(room: str) -> str:
    """What a budget is for."""
    return "src/run" if room.startswith("src/run") else "src" if room.startswith("src") else room


def files_below(root: Path):
    yield root / "README.md"
    yield from sorted((root / "docs").rglob("*.md"))
    for folder in ("include", "src", "python"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".hpp", ".c", ".cpp", ".py") and "build" not in path.parts:
                yield path


def findings_in(path: Path, text: str, seen: Counter):
    """Of a file, by its path below the root. `seen` counts the sentences of rooms."""
    room, page = room_of(path), path.suffix == ".md"

    def found(kind: str, line: int, what: str) -> Finding:
        return Finding(room, kind, f"{path}:{line}", " ".join(what.split()))

    if page:
        for number, line in enumerate(without_listings(text).splitlines(), 1):
            if len(line) > WIDEST and not line.startswith("|") and not line.startswith("!["):
                yield found("wide", number, line)
        for number, cell in cells_of(without_listings(text)):
            seen[room, "cells"] += 1
            if ends_in(cell) > 2:
                yield found("cells", number, cell)
            if any(words_of(part) > LONGEST for each in split(plain(cell)) for part in parts_of(each)):
                yield found("long", number, cell)
    else:
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > WIDEST and re.search(r"//|#|\*", line):
                yield found("wide", number, line)
    passages = passages_of_page(text) if page else passages_of_source(path, text)
    for passage in passages:
        for part in [passage] if page else paragraphs_of(passage):
            declared = part.declared
            at = part.line
            for sentence in split(plain(part.text)):
                seen[room, "sentences"] += 1
                seen[room, "words"] += words_of(sentence)
                if headless(sentence, declared):
                    yield found("headless", at, sentence)
                if any(words_of(each) > LONGEST for each in parts_of(sentence)):
                    yield found("long", at, sentence)
                declared = False


def budget_of(text: str) -> dict[tuple[str, str], int]:
    """By group and kind. A line has the group and a number for each kind; a line that begins with # is a remark."""
    granted = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            *name, _ = re.split(r"\s+(?=\d)", line, maxsplit=1)
            for kind, number in zip(KINDS, line.split()[-len(KINDS) :], strict=True):
                granted[name[0], kind] = int(number)
    return granted


def beyond(budget: dict, findings: list[Finding]):
    """Lines about what is more than granted; a group that the budget does not know gets nothing."""
    of = {}
    for each in findings:
        of.setdefault((group_of(each.room), each.kind), []).append(each)
    for (group, kind), some in sorted(of.items()):
        if len(some) > budget.get((group, kind), 0):
            yield f"{group}: {len(some)} {kind}, granted are {budget.get((group, kind), 0)}"
            yield from (f"  {each.place}: {each.text}" for each in some)


def look(root: Path, below: list[str]):
    """(findings, what has been counted, rooms in order)"""
    seen, findings, rooms = Counter(), [], {}
    for file in files_below(root):
        path = file.relative_to(root)
        if file.exists() and (not below or any(path.is_relative_to(each) for each in below)):
            rooms[room_of(path)] = True
            findings += findings_in(path, file.read_text(), seen)
    return findings, seen, list(rooms)


def table(findings: list[Finding], seen: Counter, rooms: list[str]):
    counts = Counter((each.room, each.kind) for each in findings)
    yield f"{'room':18} sentences words" + "".join(f"{kind:>10}" for kind in KINDS)
    for room in rooms:
        sentences = seen[room, "sentences"]
        average = seen[room, "words"] / max(sentences, 1)
        yield f"{room:18} {sentences:9} {average:5.1f}" + "".join(f"{counts[room, kind]:10}" for kind in KINDS)
    every = sum(seen[room, "sentences"] for room in rooms)
    sums = (sum(counts[room, kind] for room in rooms) for kind in KINDS)
    yield f"{'all':18} {every:9}      " + "".join(f"{each:10}" for each in sums)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="tell every finding, too")
    parser.add_argument("--budget", type=Path, metavar="FILE")
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).resolve().parents[1])
    parser.add_argument("paths", nargs="*")
    asked = parser.parse_args()
    findings, seen, rooms = look(asked.root, asked.paths)
    if asked.list:
        print("".join(f"{each.place}: {each.kind}: {each.text}\n" for each in findings), end="")
    print("\n".join(table(findings, seen, rooms)))
    more = list(beyond(budget_of(asked.budget.read_text()), findings)) if asked.budget else []
    print("".join(f"{line}\n" for line in more), end="", file=sys.stderr)
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
