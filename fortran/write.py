#!/usr/bin/env python3
"""Writes a source of Fortran that says the same for each type and rank of values:   write.py SOURCE.f90.in SOURCE.f90

In a template `#:for NAME in EXPRESSION` ... `#:endfor` repeats lines, and `${EXPRESSION}$` stands for a value. Expressions are
those of Python, and know kinds.py.
"""

import re
import sys
from pathlib import Path

import kinds


def written(lines, names):
    """The lines of a template, up to its end or to the end of the loop that they are in."""
    for line in lines:
        if line.startswith("#:endfor"):
            return
        if loop := re.match(r"#:for (\w+) in (.*)", line):
            inner = body_of(lines)
            for value in eval(loop[2], names):
                yield from written(iter(inner), {**names, loop[1]: value})
        else:
            yield re.sub(r"\$\{(.*?)\}\$", lambda found: str(eval(found[1], names)), line)


def body_of(lines):
    """Takes the lines of a loop, with those of loops within, from the template."""
    body, depth = [], 1
    for line in lines:
        depth += line.startswith("#:for") - line.startswith("#:endfor")
        if depth == 0:
            return body
        body.append(line)
    raise ValueError("a loop has no end")


def main(template, into):
    Path(into).write_text("\n".join(written(iter(Path(template).read_text().splitlines()), {"kinds": kinds})) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
