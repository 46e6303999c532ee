"""A virtual machine with two NVDIMMs: emulated by qemu without any help of the host, its power cut by SIGKILL.

The kernel is Debian's for clouds, which has what it needs built in but for the drivers of NVDIMMs. It is never installed,
only unpacked below the user's cache. The root of the machine is an initramfs with the programs that a test wants, and
the libraries that they load.
"""

import fcntl
import functools
import glob
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
PACKAGE = "linux-image-cloud-amd64"
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "forebay-kernel")
DRIVERS = ["libnvdimm", "nd_btt", "nfit", "nd_pmem", "dax_pmem", "device_dax"]  # in the order in which they load
TOOLS = ["busybox", "ndctl", "mkfs.ext4"]
NVDIMM_BYTES = 256 << 20

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /tmp /mnt
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir /dev/shm
for driver in {drivers}; do insmod /drivers/$driver.ko; done
export PATH=/bin HOME=/
cd /
sh /job
echo "the job ended with $?"
poweroff -f
""".format(drivers=" ".join(DRIVERS))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def check_host():
    """Ends the test where this host cannot run the machine."""
    missing = [name for name in ["qemu-system-x86_64", "lz4", "setpriv", *TOOLS] if not which(name)]
    if missing:
        skip(f"missing: {' '.join(missing)}; run scripts/install-dependencies test")
    kernel()


def which(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


@functools.cache
def kernel():
    """The directory of the unpacked kernel package, which is fetched when it is asked for the first time."""
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test fetches it too
        found = sorted(glob.glob(os.path.join(CACHE, "linux-image-*")))
        return found[-1] if found else fetch_kernel()


def fetch_kernel():
    """From a Debian mirror, unpacked below CACHE; ends the test where that cannot be had."""
    with tempfile.TemporaryDirectory(dir=CACHE) as place:
        try:
            depends = subprocess.run(["apt-cache", "depends", PACKAGE], capture_output=True, text=True, check=True)
            name = re.search(r"Depends: (linux-image-\S+)", depends.stdout).group(1)
            fetched = subprocess.run(["apt-get", "-q", "download", name], cwd=place, capture_output=True, text=True)
            package = glob.glob(os.path.join(place, "*.deb"))
            if not package:
                skip(f"no kernel for the virtual machine: {fetched.stderr.strip()}")
            subprocess.run(["dpkg-deb", "-x", package[0], os.path.join(place, name)], check=True)
        except (OSError, AttributeError, subprocess.CalledProcessError) as error:
            skip(f"no kernel for the virtual machine: {PACKAGE} cannot be had from a Debian mirror ({error})")
        os.rename(os.path.join(place, name), os.path.join(CACHE, name))
    return os.path.join(CACHE, name)


def plain_kernel(place):
    """The kernel without its compression, which the machine would take seconds to undo: it boots this directly."""
    with open(glob.glob(os.path.join(kernel(), "boot/vmlinuz-*"))[0], "rb") as file:
        image = file.read()
    # https://docs.kernel.org/arch/x86/boot.html: setup_sects, payload_offset, payload_length
    start = ((image[0x1F1] or 4) + 1) * 512 + struct.unpack_from("<I", image, 0x248)[0]
    payload = image[start : start + struct.unpack_from("<I", image, 0x24C)[0]]
    path = os.path.join(place, "vmlinux")
    with open(path, "wb") as file:
        # The last four bytes are no part of the compressed stream but its length.
        subprocess.run(["lz4", "-dc"], input=payload[:-4], stdout=file, check=True)
    return path


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


class Computer:
    """A machine that is off, with what lasts: kernel, programs and the content of the NVDIMMs, all in one directory."""

    def __init__(self, programs):
        self.place = tempfile.mkdtemp(prefix="forebay-nvdimm-", dir="/var/tmp")
        self.kernel = plain_kernel(self.place)
        for number in range(2):
            with open(os.path.join(self.place, f"nvdimm{number}"), "wb") as file:
                file.truncate(NVDIMM_BYTES)
        files = {"init": (0o755, INIT.encode())}
        for driver in DRIVERS:
            module = glob.glob(os.path.join(kernel(), f"lib/modules/*/**/{driver}.ko"), recursive=True)[0]
            files[f"drivers/{driver}.ko"] = (0o644, content_of(module))
        for program in [which(tool) for tool in TOOLS] + programs:
            name = os.path.basename(program)
            stripped = os.path.join(self.place, name)
            subprocess.run(["strip", "-o", stripped, os.path.realpath(program)], check=True)
            files[f"bin/{name}"] = (0o755, content_of(stripped))
            for library in libraries(program):
                files[library.lstrip("/")] = (0o755, content_of(library))
        self.base = archive(files)

    def close(self):
        shutil.rmtree(self.place, ignore_errors=True)

    def boot(self, job, persistence="mem-ctrl"):
        """`persistence`: what a power failure spares, the caches of the processor (cpu) or the memory controllers."""
        initramfs = os.path.join(self.place, "initramfs")
        with open(initramfs, "wb") as file:
            file.write(self.base + archive({"job": (0o644, job.encode())}))
        command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"]
        command += ["-machine", f"q35,nvdimm=on,nvdimm-persistence={persistence}", "-m", "2G,slots=4,maxmem=8G"]
        command += ["-nodefaults", "-vga", "none", "-display", "none", "-serial", "stdio", "-no-reboot"]
        for number in range(2):
            path = os.path.join(self.place, f"nvdimm{number}")
            memory = f"memory-backend-file,id=memory{number},share=on,mem-path={path},size={NVDIMM_BYTES}"
            command += ["-object", memory, "-device", f"nvdimm,id=nvdimm{number},memdev=memory{number}"]
        # The kernel counts ticks of the timer as it starts, and gives up where a busy host lets none come in time.
        boot = "console=ttyS0 quiet panic=-1 no_timer_check"
        command += ["-kernel", self.kernel, "-initrd", initramfs, "-append", boot]
        return Running(command)

    def run(self, job, timeout, **options):
        """What the job said, and its exit status."""
        running = self.boot(job, **options)
        lines = list(running.lines(timeout))
        running.cut_power()
        said, _, status = "\n".join(lines).rpartition("\nthe job ended with ")
        return (said, int(status.split()[0])) if said else (status, None)


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
