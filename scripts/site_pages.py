#!/usr/bin/env python3
"""Makes the documentation site: README, the pages of docs/, the manual pages, and the headers of C and C++.

    site_pages.py pages DIRECTORY    the pages as Markdown; needs nothing but Python
    site_pages.py build DIRECTORY    DIRECTORY/html/index.html, by MkDocs Material of PyPI in an environment below .cache/

The pages are written for a plain code host. This changes what differs on a site: README is its first page, links lead to
where a page is there, and lists within lists are indented as MkDocs wants it. mkdocs.yml has the order of the pages.
"""

import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

SOURCES = Path(__file__).resolve().parents[1]
MATERIAL = "9.8.2"
PLAIN = ("LICENSE", "CITATION.cff")
OF_THE_PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
PICTURES = (".svg", ".png")
LINK = re.compile(r"(\]\()([^)#:\s]*)(#[^)\s]+)?(\))")
HEADERS = "include/forebay"
# What a search finds first, and last.
FIRST_SOUGHT = (
    "quickstart.md", "cluster-quickstart.md", "after-a-crash.md", "troubleshooting.md", "faq.md", "containers.md", "run/watch.md",
    "words.md", "administrators.md",
)  # fmt: skip
FOR_DEVELOPERS = (
    "CONTRIBUTING.md", "design.md", "run/redirect.md", "benchmarks.md", "seeds.md", "gaps.md", "SECURITY.md",
)  # fmt: skip


class SiteError(Exception):
    pass


# ---- where a file of the sources is on the site


def places(sources: Path) -> dict[str, str]:
    """The path on the site of each file that is there, by its path in the sources."""
    found = {"README.md": "index.md"}
    found |= {name: name for name in (*OF_THE_PROJECT, *PLAIN)}
    for path in sorted((sources / "docs").rglob("*")):
        name = path.relative_to(sources).as_posix()
        if path.suffix == ".md" or path.suffix in PICTURES:
            found[name] = name.removeprefix("docs/")
    return found


def relative(place: str, of_page: str) -> str:
    return os.path.relpath(place, PurePosixPath(of_page).parent.as_posix())


def with_links(text: str, name: str, known: dict[str, str]) -> str:
    """A page of the sources whose links lead to places on the site."""

    def changed(link: re.Match) -> str:
        if not link[2]:
            return link[0]
        target = os.path.normpath(PurePosixPath(name).parent / link[2])
        if target not in known:
            raise SiteError(f"{name}: {link[2]} is not on the site")
        return link[1] + relative(known[target], known[name]) + (link[3] or "") + link[4]

    return LINK.sub(changed, text)


def with_lists(text: str) -> str:
    """Python's Markdown wants a blank line before a list, and four blanks before a list within one."""
    lines, listing = [], False
    for line in text.split("\n"):
        listing ^= line.lstrip().startswith("```")
        item = None if listing else re.match(r"( *)(?:[-*]|\d+\.) ", line)
        if item and 0 < len(item[1]) < 4:
            line = "    " + line.lstrip()
        if item and not item[1] and lines and lines[-1] and not re.match(r"\s|[-*] |\d+\. |[#|<]", lines[-1]):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def with_whole_options(text: str) -> str:
    """A browser would break lines within `--pool`: short code with a hyphen stays in one piece."""
    lines, listing = [], False
    for line in text.split("\n"):
        listing ^= line.lstrip().startswith("```")
        if not listing and not line.startswith("    "):
            line = re.sub(r"`[^`]+`", lambda code: code[0] + "{.whole}" * ("-" in code[0] and len(code[0]) < 40), line)
        lines.append(line)
    return "\n".join(lines)


# ---- manual pages


def words_of_roff(text: str) -> str:
    """The words of a line, as they are printed."""
    text = re.sub(r"\\f[BIR]", "", text.removeprefix(".B ").removeprefix(".BR "))
    for roff, sign in (("\\-", "-"), ("\\(ga", "`"), ("\\(aq", "'"), ("\\(dq", '"'), ("\\e", "\\"), ("\\&", "")):
        text = text.replace(roff, sign)
    return text


def markdown_of_roff(text: str) -> str:
    """The same, in which nothing but code has a meaning for Markdown."""
    pieces = re.split(r"(`[^`]*`)", words_of_roff(text))
    return "".join(piece if piece[:1] == "`" else re.sub(r"([<*_])", r"\\\1", piece) for piece in pieces)


def page_of_manual(text: str) -> str:
    """A manual page as `forebay man` writes it, as Markdown."""
    made, tag, verbatim = [], None, False
    section = ""
    for line in text.splitlines():
        macro, _, rest = line.partition(" ")
        if macro == ".SH":
            section = rest.strip('"')
            if section != "NAME":
                made.append(f"\n## {section.capitalize()}\n")
        elif macro == ".SS":
            made.append(f"\n### {rest}\n")
        elif macro == ".TP":
            tag = ""
        elif macro == ".PP":
            made.append("")
        elif macro in (".nf", ".fi"):
            verbatim = macro == ".nf"
            made.append("\n```text" if verbatim else "```\n")
        elif macro in (".TH", ".RS", ".RE"):
            pass
        elif verbatim:
            made.append(words_of_roff(line))
        elif section == "NAME":
            name, _, about = markdown_of_roff(line).partition(" - ")
            made.append(f"# {name.replace('-', ' ', 1)}\n\n{about[:1].upper()}{about[1:]}.")
        elif tag == "":
            tag = words_of_roff(line)
        elif tag:
            made.append(f"- `{tag}`: {markdown_of_roff(line)}")
            tag = None
        elif section == "SYNOPSIS":
            made.append("    " + words_of_roff(line))
        elif section == "SEE ALSO":
            page, _, end = markdown_of_roff(line).partition(" (1)")
            made.append(f"[{page.replace('-', ' ', 1)}]({page}.md){end}")
        else:
            made.append(markdown_of_roff(line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(made)).strip() + "\n"


# ---- headers


def pieces_of_header(text: str):
    """(comment, code) of each piece: a comment that begins its line, and the code behind it up to the next one."""
    text = re.sub(r"(?m)^(#(?:ifndef FOREBAY_\w+_HP?P?|define FOREBAY_\w+_HP?P?|pragma once)|#include .*)\n", "", text)
    text = re.sub(r'(?m)^#ifdef __cplusplus\n(?:extern "C" \{|\})\n#endif\n', "", text)
    text = re.sub(r"(?ms)^namespace detail \{.*?^\}  // namespace detail\n", "", text)
    comment = ""
    token = re.compile(r"(?ms)^/\*.*?\*/\n|^(?://[^\n]*\n)+")
    at = 0
    for found in token.finditer(text):
        yield from with_comment(comment, text[at : found.start()])
        comment = re.sub(r"(?m)^(?:/\*+|//| \*/?)(?: |$)?", "", found[0].strip()).removesuffix("*/").rstrip()
        at = found.end()
    yield from with_comment(comment, text[at:].removesuffix("#endif\n"))


def with_comment(comment: str, code: str):
    """The declarations behind a comment: it speaks of the first one, which ends at a blank line outside of braces."""
    pieces, depth = [[]], 0
    for line in code.strip("\n").split("\n"):
        if not line and depth == 0:
            pieces.append([])
        pieces[-1].append(line)
        if not re.match(r"(?:inline )?namespace|\}  // namespace", line):
            depth += line.count("{") - line.count("}")
    for piece in pieces:
        if comment or "".join(piece).strip():
            yield comment, "\n".join(piece).strip("\n")
        comment = ""


def page_of_header(name: str, text: str) -> str:
    made = [f"# {name}"]
    for comment, code in pieces_of_header(text):
        called = list(dict.fromkeys(re.findall(r"(?m)^(?!\s|typedef|using|namespace).*?\b(\w+)\(", code)))
        named = re.findall(r"(?m)^(?:typedef )?(?:struct|enum|class)(?: class)? (\w+)", code)
        if title := ", ".join(dict.fromkeys([*named, *called][:4])):
            made.append(f"## {title}")
        prose, listing = [], False
        for line in comment.split("\n"):
            if not listing and line.startswith("    ") and prose and prose[-1]:
                prose.append("")
            listing = line.startswith("    ")
            prose.append(line if listing else re.sub(r"([<*_])", r"\\\1", line))
        made.append("\n".join(prose))
        if code.strip():
            language = "cpp" if name.endswith(".hpp") else "c"
            made.append(f"```{language}\n{code}\n```")
    return "\n\n".join(made) + "\n"


# ---- all of it


def rank_of(place: str) -> bytes:
    """The head of a page that a search is to find before others, or behind them."""
    boost = 2 if place in FIRST_SOUGHT else 0.3 if place in FOR_DEVELOPERS else None
    return f"---\nsearch:\n  boost: {boost}\n---\n\n".encode() if boost else b""


def pages(sources: Path):
    """(path on the site, content as bytes)"""
    known = places(sources)
    yield "site.css", b".md-typeset code.whole { white-space: nowrap; }\n"
    for name, place in known.items():
        content = (sources / name).read_bytes()
        if place.endswith(".md"):
            content = with_whole_options(with_lists(with_links(content.decode(), name, known))).encode()
        yield place, rank_of(place) + content
    for path in sorted((sources / "docs/man").glob("*.1")):
        yield f"commands/{path.stem}.md", page_of_manual(path.read_text()).encode()
    for path in sorted((sources / HEADERS).glob("*.h*")):
        page = page_of_header(path.name, path.read_text())
        yield f"api/{path.name.replace('.', '_')}.md", page.encode()


def write_pages(sources: Path, directory: Path) -> None:
    for place, content in pages(sources):
        target = directory / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def mkdocs() -> Path:
    environment = SOURCES / f".cache/mkdocs-material-{MATERIAL}"
    program = environment / "bin/mkdocs"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin/pip", "install", "-q", f"mkdocs-material=={MATERIAL}"], check=True)
    return program


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("pages", "build"):
        print(__doc__, file=sys.stderr)
        return 2
    directory = Path(sys.argv[2]).resolve()
    try:
        if sys.argv[1] == "pages":
            write_pages(SOURCES, directory)
            return 0
        write_pages(SOURCES, directory / "pages")
        environment = os.environ | {"SITE_PAGES": str(directory / "pages"), "SITE_HTML": str(directory / "html")}
        environment["NO_MKDOCS_2_WARNING"] = "1"  # it is not ours to tell
        words = [mkdocs(), "build", "--strict", "--quiet", "--config-file", SOURCES / "mkdocs.yml"]
        subprocess.run(words, check=True, env=environment)
    except (SiteError, subprocess.CalledProcessError) as error:
        print(f"site: {error}", file=sys.stderr)
        return 1
    print(directory / "html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
