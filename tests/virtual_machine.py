"""Virtual machines: emulated by qemu without any help of the host, ended by SIGKILL.

Their kernels are Debian's. They are never installed, only unpacked below the user's cache.
"""

import fcntl
import functools
import glob
import lzma
import os
import re
import select
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time

SKIP = 77
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "forebay-kernel")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def which(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


@functools.cache
def kernel(package):
    """The directory of an unpacked kernel package, which is fetched when it is asked for the first time.

    `package` depends on the newest kernel of its kind: linux-image-amd64, linux-image-cloud-amd64.
    """
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test fetches it too
        kind = package.removeprefix("linux-image-")
        found = sorted(glob.glob(os.path.join(CACHE, f"linux-image-[0-9]*[0-9]-{kind}")))
        return found[-1] if found else fetch_kernel(package)


def fetch_kernel(package):
    """From a Debian mirror, unpacked below CACHE; ends the test where that cannot be had."""
    with tempfile.TemporaryDirectory(dir=CACHE) as place:
        try:
            depends = subprocess.run(["apt-cache", "depends", package], capture_output=True, text=True, check=True)
            name = re.search(r"Depends: (linux-image-\S+)", depends.stdout).group(1)
            fetched = subprocess.run(["apt-get", "-q", "download", name], cwd=place, capture_output=True, text=True)
            files = glob.glob(os.path.join(place, "*.deb"))
            if not files:
                skip(f"no kernel for the virtual machine: {fetched.stderr.strip()}")
            subprocess.run(["dpkg-deb", "-x", files[0], os.path.join(place, name)], check=True)
        except (OSError, AttributeError, subprocess.CalledProcessError) as error:
            skip(f"no kernel for the virtual machine: {package} cannot be had from a Debian mirror ({error})")
        os.rename(os.path.join(place, name), os.path.join(CACHE, name))
    return os.path.join(CACHE, name)


def plain_kernel(package, place):
    """The kernel without its compression, which the machine would take seconds to undo: it boots this directly."""
    image = content_of(glob.glob(os.path.join(kernel(package), "boot/vmlinuz-*"))[0])
    # https://docs.kernel.org/arch/x86/boot.html: setup_sects, payload_offset, payload_length
    start = ((image[0x1F1] or 4) + 1) * 512 + struct.unpack_from("<I", image, 0x248)[0]
    payload = image[start : start + struct.unpack_from("<I", image, 0x24C)[0]]
    path = os.path.join(place, "vmlinux")
    with open(path, "wb") as file:
        if payload.startswith(b"\xfd7zXZ"):
            file.write(lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(payload))
        else:
            # The last four bytes are no part of the compressed stream but its length.
            subprocess.run(["lz4", "-dc"], input=payload[:-4], stdout=file, check=True)
    return path


def drivers(package, names):
    """{file: (mode, bytes)} of these drivers and those that they need, and all their names in the order in which they
    load. A name that the kernel has no file of is built in."""
    files = glob.glob(os.path.join(kernel(package), "lib/modules/*/kernel/**/*.ko"), recursive=True)
    path_of = {os.path.basename(path).removesuffix(".ko").replace("-", "_"): path for path in files}
    order = []

    def add(name):
        if name in order or name not in path_of:
            return
        needs = re.search(rb"\0depends=([^\0]*)\0", content_of(path_of[name])).group(1).decode()
        for each in filter(None, needs.split(",")):
            add(each.replace("-", "_"))
        order.append(name)

    for name in names:
        add(name)
    return {f"drivers/{name}.ko": (0o644, content_of(path_of[name])) for name in order}, order


def libraries(program):
    """What the loader would map, and the loader."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return set(re.findall(r"(/\S+) \(0x", listed))


def archive(files):
    """A cpio archive (newc) of {name: (mode, bytes)}, with the directories that the names need."""
    directories = set()
    for name in files:
        while name := os.path.dirname(name):
            directories.add(name)
    entries = [(name, stat.S_IFDIR | 0o755, b"") for name in sorted(directories)]
    entries += [(name, stat.S_IFREG | mode, content) for name, (mode, content) in files.items()]
    entries.append(("TRAILER!!!", 0, b""))
    out = bytearray()
    for number, (name, mode, content) in enumerate(entries, 1):
        fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        out += b"070701" + "".join(f"{field:08x}" for field in fields).encode() + name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4) + content
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


class Running:
    """The machine while it is on."""

    def __init__(self, command):
        # It must not outlive the test, however that ends.
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.whole = []  # lines that nobody has asked for yet
        self.rest = b""

    def take(self, more):
        *whole, self.rest = (self.rest + more).split(b"\n")
        self.whole += [line.decode(errors="replace").strip("\r") for line in whole]

    def lines(self, seconds):
        """Whole lines from the console, until the machine ends or the time is over."""
        end = time.monotonic() + seconds
        while True:
            while self.whole:
                yield self.whole.pop(0)
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                return
            if not (got := os.read(self.process.stdout.fileno(), 65536)):
                return
            self.take(got)
            if time.monotonic() > end:
                return

    def cut_power(self):
        """Returns the whole lines that were still on their way."""
        self.process.kill()
        self.take(self.process.stdout.read())
        self.process.stdout.close()
        self.process.wait()
        return self.whole
