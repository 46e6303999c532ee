"""Pictures of matplotlib as PNG files that say whose they are, so that no other one is replaced."""

import io

from .result_file import Kind

KEY = "Software"


def kind_of(name: str) -> Kind:
    """`name`: "picture of ..."."""
    return Kind(name, b"\x89PNG\r\n\x1a\n", f"{KEY}\0forebay: {name}".encode())


def png(figure, kind: Kind, **options: object) -> bytes:
    """`figure`: of matplotlib. `options`: of its savefig()."""
    content = io.BytesIO()
    figure.savefig(content, format="png", facecolor="white", metadata={KEY: f"forebay: {kind.name}"}, **options)
    return content.getvalue()
