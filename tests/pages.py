"""Pages of docs/ as tests read them: their scripts, links and headings, and the messages of docs/troubleshooting.md."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
# By task: what users read first. The others follow.
BY_TASK = (
    "quickstart", "cluster-quickstart", "several-cases", "after-a-crash", "containers", "administrators", "faq", "troubleshooting",
    "upgrade", "tested-with",
)  # fmt: skip
BLOCK = re.compile(r"(?:<!-- listing: (?P<name>\S+) -->\n+)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.S)


def links_of(text):
    """(link, anchor) of each link within the project; the link is empty where it leads within its page."""
    return re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", text)


def anchors_of(text):
    """As GitHub and the site make them of headings."""
    for heading in re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```", "", text)):
        plain = re.sub(r"\{.whole\}", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading))
        yield re.sub(r"[^\w -]", "", plain.lower()).replace(" ", "-")


def blocks_of(text, kind="sh"):
    """(line number, name, text) of the fenced blocks of a kind. One with a name is run by the test that asks for it by
    listing(); one without is run as it stands by commands/documents."""
    for block in BLOCK.finditer(text):
        if block["kind"] == kind:
            yield text.count("\n", 0, block.start("text")) + 1, block["name"], block["text"]


def listing(name, page, kind="sh"):
    (found,) = [text for _, named, text in blocks_of((DOCS / page).read_text(), kind) if named == name]
    return found


def messages_of(page):
    """(status, messages) of each row of docs/troubleshooting.md."""
    status = None
    for line in page.splitlines():
        if heading := re.match(r"## (\d):", line):
            status = int(heading[1])
        elif status is not None and line.startswith("| `"):
            yield status, re.findall(r"`([^`]+)`", line.split(" | ")[0])


def says(message, words):
    """Whether these words hold the message, whose gaps are dots."""
    return re.search(".*".join(re.escape(piece) for piece in message.split("...")), words, re.S) is not None
