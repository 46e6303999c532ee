"""Pages with pictures and tables: one file that needs nothing beside it."""

import base64
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
.good { color: #047857; font-weight: 600; } .bad { color: #b91c1c; font-weight: 600; }
"""

BEGIN = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>'


def table(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def image(path: Path, text: str) -> str:
    content = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{escape(text)}" src="data:image/png;base64,{content}">'


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
