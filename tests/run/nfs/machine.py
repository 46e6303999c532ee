"""A virtual machine with a server and a client of NFSv4.2, both of Debian's kernel. Its root is the host's, read-only below a
layer in memory, so what was built here runs there. At /shared lies what the server exports: root is squashed, any user may
make files."""

import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../.."))

from virtual_machine import Running, archive, content_of, drivers, kernel, plain_kernel, skip, which  # noqa: E402

PACKAGE = "linux-image-amd64"
DRIVERS = ["crc32c_generic", "virtio_pci", "9pnet_virtio", "9p", "overlay", "ext4", "loop", "fuse", "nfsv4", "nfsd"]
TOOLS = [
    "qemu-system-x86_64",
    "setpriv",
    "busybox",
    "mkfs.ext4",
    "rpc.nfsd",
    "rpc.mountd",
    "nfsdcld",
    "exportfs",
    "mount.nfs4",
]
SERVER = os.path.join(HERE, "server")

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /host /layer /root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for driver in DRIVERS; do insmod /drivers/$driver.ko; done
hostname nfs
ip link set lo up
mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=loose,ro host /host
mount -t tmpfs -o size=3g layer /layer
mkdir /layer/upper /layer/work
mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work root /root
for each in proc sys dev; do mount --move /$each /root/$each; done
mkdir -p /root/dev/shm /root/dev/pts
mount -t tmpfs -o mode=1777 shm /root/dev/shm
mount -t tmpfs -o mode=1777 tmp /root/tmp
mount -t tmpfs run /root/run
echo "127.0.0.1 localhost nfs" > /root/etc/hosts
mount -t devpts pts /root/dev/pts
cp /job /root/run/job
exec switch_root /root /bin/bash -c '/bin/bash /run/job; echo "the job ended with $?"; echo o > /proc/sysrq-trigger; sleep 60'
"""


def check_host():
    """Ends the test where this host cannot run the machine."""
    missing = [name for name in TOOLS if not which(name)]
    if missing:
        skip(f"missing: {' '.join(missing)}; run scripts/install-dependencies test nfs")
    if os.geteuid() != 0:
        skip("needs root, whose files the machine reads")
    kernel(PACKAGE)


def run(job, environment, seconds):
    """What a script of bash said in the machine, a line at a time, and then None or its exit status as a number. The
    server is up and /shared is mounted when it begins."""
    place = tempfile.mkdtemp(prefix="forebay-nfs-", dir="/var/tmp")
    try:
        files, order = drivers(PACKAGE, DRIVERS)
        exports = "".join(f"export {name}='{value}'\n" for name, value in environment.items())
        script = f"export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root\n{exports}{SERVER} up || exit 1\n{job}\n"
        files["init"] = (0o755, INIT.replace("DRIVERS", " ".join(order)).encode())
        files["job"] = (0o644, script.encode())
        files["bin/busybox"] = (0o755, content_of(which("busybox")))
        initramfs = os.path.join(place, "initramfs")
        with open(initramfs, "wb") as file:
            file.write(archive(files))
        command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-machine", "q35"]
        command += ["-m", "6G", "-nodefaults", "-vga", "none", "-display", "none", "-serial", "stdio", "-no-reboot"]
        command += ["-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap"]
        command += ["-device", "virtio-9p-pci,fsdev=host,mount_tag=host"]
        command += ["-kernel", plain_kernel(PACKAGE, place), "-initrd", initramfs]
        command += ["-append", "console=ttyS0 quiet panic=-1 no_timer_check"]
        running = Running(command)
        status = None
        for line in running.lines(seconds):
            if line.startswith("the job ended with "):
                status = int(line.split()[-1])
                break
            yield line
        running.cut_power()
        yield status
    finally:
        shutil.rmtree(place, ignore_errors=True)
