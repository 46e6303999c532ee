#!/usr/bin/env python3
"""Writes what the public headers declare for other languages.

declarations.py HEADERS FILE...     HEADERS is include/forebay; a FILE is called _declarations.py, forebay_c.f90 or
                                    forebay_arrays_c.f90

The headers are the one table. CMake writes the files of Fortran. That of Python is in the sources, since pip installs it from
there: `scripts/lint python` tells where it is not what the headers say, and `scripts/lint format` writes it anew.
"""

import pathlib
import re
import sys
import typing

ARRAYS = ("arrays.h",)  # the headers of libforebay_arrays; all others are of libforebay
OF_C_ALONE = ("MPI_Comm",)  # types that no other language has; of these functions there is another one for it


class Variable(typing.NamedTuple):
    """A parameter of a function, or a member of a struct."""

    name: str
    type: str  # without const, spaces and the name: "int64_t", "char*", "forebay_plan**"
    const: bool  # what it points to is read only
    array: bool  # "memory[]"


class Function(typing.NamedTuple):
    name: str
    result: Variable
    parameters: list


class Header(typing.NamedTuple):
    enums: dict  # name: {constant: value}
    structs: dict  # name: [Variable]
    handles: list  # names of structs that only the library knows
    functions: list


def variable(text):
    """Of "const void* const memory[]"."""
    const = text.strip().startswith("const")
    text = re.sub(r"\bconst\b", " ", text)
    name = re.search(r"(\w+)\s*(?:\[\])?\s*$", text)
    stars = "*" * (text.count("*") + text.count("[]"))
    return Variable(name[1], re.match(r"\s*(\w+)", text)[1] + stars, const, "[]" in text)


def members(body):
    for part in filter(str.strip, body.split(";")):
        first, *more = part.split(",")
        yield variable(first)
        yield from (variable(first)._replace(name=name.strip()) for name in more)


def read(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r'extern "C" \{', "", text)
    enums = {
        name: {each: int(value, 0) for each, value in re.findall(r"(\w+)\s*=\s*(\w+)", body)}
        for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\}", text, re.S)
    }
    structs = {name: list(members(body)) for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.S)}
    handles = re.findall(r"typedef struct (\w+) \w+;", text)
    flat = re.sub(r"\{[^{}]*\}", "", text)
    functions = [
        Function(
            name, variable(result + " result"), [variable(part) for part in given.split(",") if part.strip() != "void"]
        )
        for result, name, given in re.findall(r"((?:\w+[ *]+)+?)(forebay_\w+)\(([^()]*)\);", flat)
    ]
    return Header(enums, structs, handles, functions)


def headers(directory):
    """By library, all that its headers declare."""
    found = {"libforebay": Header({}, {}, [], []), "libforebay_arrays": Header({}, {}, [], [])}
    for path in sorted(pathlib.Path(directory).glob("*.h")):
        header, whole = read(path.read_text()), found["libforebay_arrays" if path.name in ARRAYS else "libforebay"]
        whole.enums.update(header.enums)
        whole.structs.update(header.structs)
        whole.handles.extend(header.handles)
        whole.functions.extend(
            each for each in header.functions if not any(one.type in OF_C_ALONE for one in each.parameters)
        )
    return found


class Python:
    """As ctypes has it."""

    SCALARS = {name: f"c_{name.removesuffix('_t')}" for name in ("int", "double", "int64_t", "uint32_t", "uint64_t")}
    SCALARS |= {"size_t": "c_size_t", "MPI_Fint": "c_int", "void": "None"}

    def __init__(self, found):
        self.found = found
        self.enums = {name for header in found.values() for name in header.enums}
        self.structs = {name for header in found.values() for name in header.structs}

    def name_of(self, struct):
        return "".join(part.title() for part in struct.removeprefix("forebay_").split("_"))

    def type_of(self, each, member=False):
        base, stars = each.type.rstrip("*"), each.type.count("*")
        if base == "char":
            one = "c_char_p" if each.const else "c_void_p"  # the program's own, to be written to
            return one if stars == 1 else "POINTER(c_char_p)"
        if base in self.structs:
            return f"POINTER({self.name_of(base)})"
        base = "c_int" if base in self.enums else self.SCALARS.get(base, "c_void_p")
        if stars == 0:
            return base
        if base == "None":
            base, stars = "c_void_p", stars - 1
        elif base == "c_void_p":
            stars -= 1  # a handle, which is never seen but behind its address
        elif each.const or member:
            return "c_void_p"  # an array of the program's
        return base if stars == 0 else f"POINTER({base})"

    def text(self):
        kinds = "POINTER, Structure, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p"
        yield '"""The declarations of the headers, for ctypes, as written by scripts/declarations.py from include/forebay."""'
        yield ""
        yield f"from ctypes import {kinds}"
        for header in self.found.values():
            for name, fields in header.structs.items():
                yield "\n"
                yield f"class {self.name_of(name)}(Structure):"
                yield "    _fields_ = ["
                for each in fields:
                    python = each.name + "_" * (each.name == "from")
                    yield f'        ("{python}", {self.type_of(each, True)}),'
                yield "    ]"
        yield "\n"
        yield "# The functions of each library: their results and parameters."
        yield "FUNCTIONS = {"
        for library, header in self.found.items():
            yield f'    "{library}": {{'
            for each in header.functions:
                parameters = "".join(f'("{one.name}", {self.type_of(one)}),' for one in each.parameters)
                yield f'        "{each.name}": ({self.type_of(each.result)}, ({parameters})),'
            yield "    },"
        yield "}"


class Fortran:
    """As interfaces of iso_c_binding, which has no unsigned numbers: those of the same size stand for them."""

    SCALARS = {
        "int": "integer(c_int)",
        "MPI_Fint": "integer(c_int)",
        "double": "real(c_double)",
        "char": "character(kind=c_char)",
    }
    SCALARS |= {"size_t": "integer(c_size_t)"}
    SCALARS |= {f"{sign}int{bits}_t": f"integer(c_int{bits}_t)" for sign in ("", "u") for bits in (8, 16, 32, 64)}
    MODULES = {"libforebay": "forebay_c", "libforebay_arrays": "forebay_arrays_c"}
    MOST = 128  # letters of a line

    def __init__(self, found):
        self.found = found
        self.enums = {name for header in found.values() for name in header.enums}
        self.structs = {name for header in found.values() for name in header.structs}

    def scalar(self, base):
        return "integer(c_int)" if base in self.enums else self.SCALARS.get(base, "type(c_ptr)")

    def parameter(self, each, counted):
        """`counted`: how many there are stands behind it."""
        base, stars = each.type.rstrip("*"), each.type.count("*")
        address = base == "void" or base not in self.structs and self.scalar(base) == "type(c_ptr)"  # or a handle
        if stars == 0 or (address and stars == 1):
            return f"{self.scalar(base)}, value :: {each.name}"
        if address or stars == 2:
            intent = "in" if each.array and each.const else "out"
            return f"type(c_ptr), intent({intent}) :: {each.name}{'(*)' * each.array}"
        if base in self.structs:
            return f"type({base}), intent({'in' if each.const else 'inout'}) :: {each.name}{'(*)' * counted}"
        many = each.const or each.array or base == "char"
        return f"{self.scalar(base)}, intent({'in' if each.const else 'out'}) :: {each.name}{'(*)' * many}"

    def member(self, each):
        kind = "type(c_ptr)" if "*" in each.type else self.scalar(each.type)
        return f"{kind} :: {each.name} = {'c_null_ptr' if kind == 'type(c_ptr)' else '0'}"

    def function(self, each):
        given = each.parameters
        kind = "type(c_ptr)" if "*" in each.result.type else self.scalar(each.result.type)
        begin = "subroutine" if each.result.type == "void" else f"{kind} function"
        head = f"    {begin} {each.name}({', '.join(one.name for one in given)}) bind(c)"
        while len(head) > self.MOST:
            cut = head.rindex(", ", 0, self.MOST) + 1
            yield head[:cut] + " &"
            head = "       " + head[cut:]
        yield head
        yield "      import"
        for place, one in enumerate(given):
            after = given[place + 1].name if place + 1 < len(given) else ""
            yield "      " + self.parameter(one, one.const and after == "count")
        yield f"    end {begin.split()[-1]} {each.name}"

    def text(self, library):
        header, module = self.found[library], self.MODULES[library]
        yield f"! What the headers of {library} declare (include/forebay/), for Fortran. Written by scripts/declarations.py. Programs"
        yield "! use the modules forebay_trajectory and forebay_arrays, not this one."
        yield f"module {module}"
        yield "  use, intrinsic :: iso_c_binding" if library == "libforebay" else "  use forebay_c"
        yield "  implicit none"
        yield "  public"
        for name, values in header.enums.items():
            yield f"\n  enum, bind(c)  ! {name}"
            yield from (f"    enumerator :: {each} = {value}" for each, value in values.items())
            yield "  end enum"
        for name, fields in header.structs.items():
            yield f"\n  type, bind(c) :: {name}"
            yield from ("    " + self.member(each) for each in fields)
            yield f"  end type {name}"
        yield "\n  interface"
        for each in header.functions:
            yield from self.function(each)
        yield "  end interface"
        yield f"\nend module {module}"


def main(directory, *files):
    found = headers(directory)
    library_of = {module: library for library, module in Fortran.MODULES.items()}
    for file in map(pathlib.Path, files):
        lines = Python(found).text() if file.suffix == ".py" else Fortran(found).text(library_of[file.stem])
        file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
