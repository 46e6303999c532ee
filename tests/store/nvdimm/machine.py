"""A virtual machine with two NVDIMMs, whose power is cut by SIGKILL.

The kernel is Debian's for clouds, which has what it needs built in but for the drivers of NVDIMMs. The root of the machine
is an initramfs with the programs that a test wants, and the libraries that they load.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

from virtual_machine import (  # noqa: E402
    Running,
    archive,
    content_of,
    drivers,
    kernel,
    libraries,
    plain_kernel,
    skip,
    which,
)

PACKAGE = "linux-image-cloud-amd64"
DRIVERS = ["nd_btt", "nfit", "nd_pmem", "dax_pmem", "device_dax"]
TOOLS = ["busybox", "ndctl", "mkfs.ext4"]
NVDIMM_BYTES = 256 << 20

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /tmp /mnt
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir /dev/shm
for driver in DRIVERS; do insmod /drivers/$driver.ko; done
export PATH=/bin HOME=/
cd /
sh /job
echo "the job ended with $?"
poweroff -f
"""


def check_host():
    """Ends the test where this host cannot run the machine."""
    missing = [name for name in ["qemu-system-x86_64", "lz4", "setpriv", *TOOLS] if not which(name)]
    if missing:
        skip(f"missing: {' '.join(missing)}; run scripts/install-dependencies test")
    kernel(PACKAGE)


class Computer:
    """A machine that is off, with what lasts: kernel, programs and the content of the NVDIMMs, all in one directory."""

    def __init__(self, programs):
        self.place = tempfile.mkdtemp(prefix="forebay-nvdimm-", dir="/var/tmp")
        self.kernel = plain_kernel(PACKAGE, self.place)
        for number in range(2):
            with open(os.path.join(self.place, f"nvdimm{number}"), "wb") as file:
                file.truncate(NVDIMM_BYTES)
        files, order = drivers(PACKAGE, DRIVERS)
        files["init"] = (0o755, INIT.replace("DRIVERS", " ".join(order)).encode())
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
