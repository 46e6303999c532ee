"""The public interface is the same everywhere: what the headers say, what the libraries give, and what Python and Fortran
take them for.

interface_test.py SOURCES CC "MPI-CC" LIBRARY...       MPI-CC may be empty: then nothing of MPI is looked at
"""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES, CC, MPI_CC, *LIBRARIES = sys.argv[1:]
ROOT = pathlib.Path(SOURCES)
INCLUDE = ROOT / "include" / "forebay"
MPI_HEADERS = ("arrays.h",)
HEADERS = [path for path in sorted(INCLUDE.glob("*.h")) if MPI_CC or path.name not in MPI_HEADERS]
NOUNS = "status error options trajectory schedule team plan checkpoints mesh_output".split()
VERBS = """open close create free copy get set add check count describe find declare begin commit cancel put release
    interpolate reverse drop move rewind keep plan advance agree number write read settle prepare""".split()

# What only C can call: others have another function for it.
OF_C_ALONE = ["forebay_team_create"] if MPI_CC else []
LIBRARY_NAMES = ["libforebay", "libforebay_arrays"] if MPI_CC else ["libforebay"]


def plain(text):
    """Without comments, and without lines of the preprocessor."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)


TEXT = "\n".join(plain(path.read_text()) for path in HEADERS)
ENUMS = {
    name: re.findall(r"\b([A-Z_0-9]+)\b\s*=", body)
    for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\}", TEXT, re.S)
}


def members(body):
    for part in body.split(";"):
        words = re.findall(r"\w+", part)
        if words:
            first, *more = part.split(",")
            yield re.findall(r"\w+", first)[-1]
            yield from (name.strip() for name in more)


BODIES = dict(re.findall(r"typedef struct (\w+) \{(.*?)\}", TEXT, re.S))
FIELDS = {name: list(members(body)) for name, body in BODIES.items()}
WITHOUT_BODIES = re.sub(r"\{[^{}]*\}", "", re.sub(r'extern "C" \{', "", TEXT))
FUNCTIONS = {
    name: [] if parameters.strip() == "void" else [re.findall(r"\w+", part)[-1] for part in parameters.split(",")]
    for name, parameters in re.findall(r"\b(forebay_\w+)\(([^()]*)\);", WITHOUT_BODIES)
}


def told_by_the_compiler():
    """The value of every constant, and size and offsets of every struct."""
    lines = [f'#include "forebay/{path.name}"' for path in HEADERS]
    lines += ["#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    for names in ENUMS.values():
        lines += [f'printf("{name} %d\\n", (int){name});' for name in names]
    for name, fields in FIELDS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field in fields:
            of = f"offsetof({name}, {field}), sizeof((({name} *)0)->{field})"
            lines.append(f'printf("{name}.{field} %zu\\n{name}.{field}.size %zu\\n", {of});')
    for part in ("MAJOR", "MINOR", "PATCH", "NUMBER"):
        lines.append(f'printf("VERSION_{part} %d\\n", FOREBAY_VERSION_{part});')
    lines.append("}")
    with tempfile.TemporaryDirectory() as directory:
        source = os.path.join(directory, "constants.c")
        program = os.path.join(directory, "constants")
        pathlib.Path(source).write_text("\n".join(lines))
        compiler = (MPI_CC or CC).split()
        subprocess.run([*compiler, "-std=c11", "-Werror", f"-I{ROOT}/include", source, "-o", program], check=True)
        told = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in (line.split() for line in told.splitlines())}


TOLD = told_by_the_compiler()


class Python(unittest.TestCase):
    def values_of(self, enum, prefix):
        return {name.removeprefix(prefix): TOLD[name] for name in ENUMS[enum]}

    def test_the_statuses_are_those_of_the_header(self):
        from forebay import Status

        want = {name.removeprefix("E_"): value for name, value in self.values_of("forebay_status", "FOREBAY_").items()}
        self.assertEqual({status.name: status.value for status in Status}, want)

    def test_types_and_codecs_stand_in_the_order_of_their_numbers(self):
        from forebay import trajectory

        values = self.values_of("forebay_type", "FOREBAY_")
        del values["TYPE_LARGEST"]
        self.assertEqual(sorted(values.values()), list(range(len(trajectory._TYPES))))
        for name, number in values.items():
            if name not in ("BYTES", "BFLOAT16"):
                self.assertEqual(trajectory._dtype_of(number).name, name.lower())
        self.assertEqual(trajectory._TYPES[values["BFLOAT16"]], "bfloat16")
        codecs = self.values_of("forebay_codec", "FOREBAY_CODEC_")
        self.assertEqual({name.upper(): i for i, name in enumerate(trajectory._CODECS)}, codecs)

    @unittest.skipUnless(MPI_CC, "no MPI")
    def test_files_of_arrays_have_some_of_the_types(self):
        from forebay import arrays

        values = {value: name for name, value in self.values_of("forebay_type", "FOREBAY_").items()}
        self.assertEqual({values[number] for number in arrays._TYPES}, {d.name.upper() for d in arrays._TYPES.values()})

    def test_actions_and_storages_are_those_of_the_header(self):
        from forebay import schedule

        kinds = self.values_of("forebay_action_kind", "FOREBAY_ACTION_")
        self.assertEqual({kind.name: kind.value for kind in schedule._Kind}, kinds)
        names = {"RAM": "DRAM", "DISK": "POOL"}
        storages = {names.get(each.name, each.name): i for i, each in enumerate(schedule._STORAGE)}
        self.assertEqual(storages, self.values_of("forebay_storage", "FOREBAY_STORAGE_"))

    def test_structs_are_those_of_the_headers(self):
        from forebay import _declarations

        for name in BODIES:
            words = name.removeprefix("forebay_").split("_")
            struct = getattr(_declarations, "".join(word.title() for word in words))
            self.assertEqual(ctypes.sizeof(struct), TOLD[name], name)
            self.assertEqual([field.rstrip("_") for field, _ in struct._fields_], FIELDS[name], name)
            for field, _ in struct._fields_:
                about = getattr(struct, field)
                want = TOLD[f"{name}.{field.rstrip('_')}"], TOLD[f"{name}.{field.rstrip('_')}.size"]
                self.assertEqual((about.offset, about.size), want, f"{name}.{field}")

    def test_functions_have_the_parameters_of_the_headers(self):
        from forebay import _declarations

        known = {name: f for library in LIBRARY_NAMES for name, f in _declarations.FUNCTIONS[library].items()}
        self.assertEqual(sorted({*known, *OF_C_ALONE}), sorted(FUNCTIONS))
        for name, (_, parameters) in known.items():
            self.assertEqual([each for each, _ in parameters], FUNCTIONS[name], name)

    def test_the_version_is_the_same_everywhere(self):
        import forebay
        from forebay import _library

        numbers = [TOLD["VERSION_" + part] for part in ("MAJOR", "MINOR", "PATCH")]
        text = ".".join(str(number) for number in numbers)
        self.assertEqual(forebay.__version__, text)
        self.assertEqual(_library.library.forebay_version().decode(), text)
        self.assertIn(f'FOREBAY_VERSION_TEXT "{text}"', (INCLUDE / "version.h").read_text())
        self.assertEqual(TOLD["VERSION_NUMBER"], numbers[0] * 10000 + numbers[1] * 100 + numbers[2])

    def test_the_header_has_every_option(self):
        from forebay import TrajectoryError
        from forebay._library import Options

        with self.assertRaises(TrajectoryError) as refused:
            Options(zzzzzzzzzz=1)
        keys = str(refused.exception).partition("there are ")[2].split(", ")
        self.assertGreater(len(keys), 10)
        text = (INCLUDE / "options.h").read_text()
        told = re.findall(r'"([a-z-]+)"', " ".join(re.findall(r'^ \*   ("[a-z-]+"(?:, "[a-z-]+")?)', text, re.M)))
        self.assertEqual(sorted(told), sorted(keys))


class Fortran(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as directory:
            files = [
                pathlib.Path(directory, name)
                for name in ("forebay_c.f90", "forebay_arrays_c.f90")[: 2 if MPI_CC else 1]
            ]
            subprocess.run([ROOT / "scripts/declarations.py", INCLUDE, *files], check=True)
            self.text = re.sub(r"&\s*\n\s*&?", "", "\n".join(path.read_text() for path in files))

    def test_constants_are_those_of_the_headers(self):
        found = {name: int(value) for name, value in re.findall(r"enumerator :: (\w+) = (-?\d+)", self.text)}
        for enum in re.findall(r"bind\(c\)\s+! (\w+)", self.text):
            for name in ENUMS[enum]:
                self.assertEqual(found.pop(name, None), TOLD[name], name)
        self.assertEqual(found, {}, "of no enum of the headers")

    def test_structs_are_those_of_the_headers(self):
        kinds = {"c_int": "int", "c_double": "double", "c_size_t": "size_t", "c_int32_t": "int32_t", "c_ptr": "*"}
        kinds["c_int64_t"] = "int64_t"
        structs = re.findall(r"type, bind\(c\) :: (\w+)\n(.*?)end type", self.text, re.S)
        self.assertTrue(structs)
        for name, body in structs:
            found = re.findall(r"\((\w+)\) :: (\w+)", body)
            self.assertEqual([field for _, field in found], FIELDS[name], name)
            parts = [part for part in BODIES[name].split(";") for _ in part.split(",") if part.strip()]
            for (kind, field), part in zip(found, parts, strict=True):
                self.assertTrue(
                    kinds[kind] in part or "forebay_" in part and kind == "c_int", f"{name}.{field}: {part}"
                )

    def test_functions_have_the_parameters_of_the_headers(self):
        heads = re.findall(r"(?:function|subroutine) (forebay_\w+)\(([^)]*)\) bind", self.text)
        self.assertTrue(heads)
        for name, parameters in heads:
            found = [word.strip() for word in parameters.split(",") if word.strip()]
            self.assertEqual(found, FUNCTIONS[name], name)


class Libraries(unittest.TestCase):
    @unittest.skipIf(shutil.which("nm") is None, "no nm")
    def test_what_they_define_is_their_list_and_what_the_headers_declare(self):
        listed = {}
        for library in LIBRARIES:
            name = re.sub(r"_(openmpi|mpich)$", "", pathlib.Path(library).name.split(".")[0])  # one list for each MPI
            text = (ROOT / "cmake" / f"{name}.map").read_text()
            node, body = re.search(r"^(\w[\w.]*) \{(.*?)\}", text, re.S | re.M).groups()
            want = set(re.findall(r"(forebay_\w+);", body))
            done = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
            found = {line.split()[-1] for line in done.stdout.splitlines()}
            self.assertEqual(sorted(found), sorted({f"{each}@@{node}" for each in want} | {node}), name)
            self.assertFalse(want & set(listed), "defined twice")
            listed.update(dict.fromkeys(want, name))
        self.assertEqual(sorted(listed), sorted(FUNCTIONS), "what is declared and what is listed")

    @unittest.skipIf(shutil.which("readelf") is None, "no readelf")
    def test_a_library_of_another_series_has_another_name(self):
        """version.h: until 1.0.0 versions fit each other where major and minor number are equal."""
        major, minor = TOLD["VERSION_MAJOR"], TOLD["VERSION_MINOR"]
        series = f"{major}.{minor}" if major == 0 else str(major)
        for library in LIBRARIES:
            done = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True)
            names = re.findall(r"(?:SONAME|NEEDED).*\[(libforebay\w*\.so[^\]]*)\]", done.stdout)
            self.assertIn(pathlib.Path(library).name.partition(".so")[0] + f".so.{series}", names)
            self.assertEqual({name.partition(".so.")[2] for name in names}, {series})

    def test_names_are_a_noun_and_a_verb(self):
        pattern = re.compile(f"forebay_({'|'.join(NOUNS)})_({'|'.join(VERBS)})(_|$)")
        wrong = [name for name in FUNCTIONS if not pattern.match(name) and name != "forebay_version"]
        self.assertEqual(wrong, [])

    def test_structs_begin_with_their_size(self):
        self.assertEqual({name: fields[0] for name, fields in FIELDS.items()}, dict.fromkeys(FIELDS, "size"))


class OldClient(unittest.TestCase):
    """What was linked with a library of the series 0.1 knows it by its name and by the version of its symbols."""

    @classmethod
    def setUpClass(cls):
        cls.library = pathlib.Path(LIBRARIES[0]).resolve()
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="forebay-old-"))
        cls.client = cls.directory / "old_client"
        source = ROOT / "tests/faces/old_client.c"
        words = [CC, "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o", cls.client, cls.library]
        subprocess.run(words, check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory)

    def started_with(self, names, content):
        """The program, where the loader finds the library of this content under these names alone."""
        place = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        for name in names:
            (place / name).write_bytes(content)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(place)}
        return subprocess.run([self.client], env=environment, capture_output=True, text=True, timeout=60)

    def test_it_is_served_by_every_library_of_its_series(self):
        done = self.started_with(["libforebay.so.0.1"], self.library.read_bytes())
        self.assertEqual((done.returncode, done.stdout[:10]), (0, "served by "), done.stdout + done.stderr)

    def test_the_loader_refuses_a_library_of_another_series(self):
        """Also under the name of this one, as somebody links it who wants it to work."""
        another = self.library.read_bytes()
        for name in (b"libforebay.so.0.", b"FOREBAY_0."):
            self.assertIn(name + b"1\0", another)
            another = another.replace(name + b"1\0", name + b"2\0")
        for name, words in (
            ("libforebay.so.0.2", "libforebay.so.0.1: cannot open"),
            ("libforebay.so.0.1", "FOREBAY_0.1"),
        ):
            done = self.started_with([name], another)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
