"""Pages with pictures and tables: one file that needs nothing beside it."""

import base64
from collections.abc import Callable
from html import escape
from pathlib import Path

from . import result_file
from .result_file import Kind

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #1f2937; background: #fff; max-width: 940px; margin: 2.5rem auto;
  padding: 0 1.2rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin-bottom: .3rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .5rem; }
p.lead { font-size: 1.1rem; margin-top: 0; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem 1.1rem; white-space: nowrap; text-align: right; border-bottom: 1px solid #e5e7eb; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
thead th { border-bottom: 2px solid #1f2937; }
img, svg { max-width: 100%; height: auto; }
.note { color: #4b5563; font-size: .92rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; background: #f3f4f6; border-radius: 4px; }
code { padding: .1em .3em; } pre { padding: .8rem 1rem; overflow-x: auto; }
.scroll { overflow-x: auto; }
.cards th, .cards td { white-space: normal; padding: .35rem .6rem; vertical-align: top; }
.cards th:first-child, .cards td:first-child { padding-left: 0; min-width: 5.5rem; }
.narrow { display: none; }
@media (max-width: 640px) {
  body { margin: 1.2rem auto; padding: 0 .8rem; } h1 { font-size: 1.35rem; overflow-wrap: anywhere; }
  .wide { display: none; } .narrow { display: block; }
  .cards table, .cards tbody, .cards tr { display: block; } .cards thead { display: none; }
  .cards tr { border-bottom: 1px solid #e5e7eb; padding: .4rem 0; }
  .cards td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem 0; }
  .cards td::before { content: attr(data-label); color: #4b5563; text-align: left; }
  .cards td:first-child { font-weight: 600; } .cards td:first-child::before { content: none; }
  .cards td:empty { display: none; } pre { white-space: pre-wrap; }
}
.good { color: #047857; font-weight: 600; } .bad { color: #b91c1c; font-weight: 600; }
"""

BEGIN = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>'


def table(header: list[str], rows: list[list[str]], more: str = "") -> str:
    """It moves by itself where it is wider than the screen. `more`: classes of what it lies in."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(map(_cell, header, row)) + "</tr>" for row in rows)
    within = " ".join(["scroll", *more.split()])
    return f'<div class="{within}"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(heading: str, cell: str) -> str:
    return f'<td data-label="{escape(heading)}">{escape(cell)}</td>'


def cards(header: list[str], rows: list[list[str]], more: str = "") -> str:
    """A table whose cells may have several lines; on a telephone each row stands by itself, below its first cell."""
    return table(header, rows, f"cards {more}")


def on_both(draw: Callable[[bool], str]) -> str:
    """What is drawn for desktops and, when asked for it (True), for telephones, so that its words can be read on either."""
    return f'<div class="wide">{draw(False)}</div><div class="narrow">{draw(True)}</div>'


def image(png: bytes, text: str, most: int) -> str:
    """`most`: pixels that it is wide at most."""
    content = base64.b64encode(png).decode()
    wide = f"width: min(100%, {most}px)"
    return f'<img alt="{escape(text)}" style="{wide}" src="data:image/png;base64,{content}">'


def checks(results: dict[str, bool]) -> str:
    items = "".join(
        f'<li>{escape(what)}: <span class="{"good" if equal else "bad"}">{"equal" if equal else "DIFFERENT"}</span></li>'
        for what, equal in results.items()
    )
    return f"<ul>{items}</ul>"


def kind_of(name: str, title: str) -> Kind:
    """Of pages whose titles begin alike."""
    return Kind(name, f"{BEGIN}{escape(title)}")


def write(to: Path, kind: Kind, title: str, lead: str, sections: list[tuple[str, str]], option: str = "--page") -> None:
    """`sections`: headings and HTML. `option`: what named the file. Raises Refused where there is something else."""
    body = "".join(f"<h2>{escape(heading)}</h2>{html}" for heading, html in sections)
    whole = (
        f"{BEGIN}{escape(title)}</title>"
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f'<body><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p>{body}</body></html>\n'
    )
    result_file.write(to, whole, kind, option)
