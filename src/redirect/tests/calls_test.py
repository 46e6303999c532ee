"""Every call that redirect stands in front of has the same observable result as in a plain directory."""

import os
import sys

from harness import AliasPair, NamespacePair, Pair, PlacedPair, can_bind, finish, report, skip, write


def build(case, shared):
    write(f"{case}/a.txt", "alpha\n")
    write(f"{case}/b.txt", "beta\n", 0o600)
    write(f"{case}/ro.txt", "read only\n", 0o444)
    write(f"{case}/big.bin", bytes(range(256)) * 12000)
    write(f"{case}/doomed1", "gone\n")
    write(f"{case}/name with space", "spaced\n")
    write(f"{case}/new\nline", "newline\n")
    write(f"{case}/{'i' * 255}", "longest\n")
    write(f"{case}/dir/x.txt", "x\n")
    write(f"{case}/dir/y.txt", "y\n")
    write(f"{case}/dir/sub/z.txt", "z\n")
    os.mkdir(f"{case}/empty")
    for rank in range(2):
        write(f"{case}/processor{rank}/0/U", f"U {rank}\n")
        write(f"{case}/processor{rank}/constant/p", f"p {rank}\n")
    os.mkdir(f"{case}/processor9")
    for number in range(80):
        write(f"{case}/changes/c{number}", f"content {number}\n", 0o640)
    write(f"{case}/changes/target", "target\n")
    write(f"{case}/changes/abstarget", "abstarget\n")
    for text, name in (
        ("a.txt", "link_rel"),
        (f"{case}/dir/x.txt", "link_abs"),
        ("dir", "link_dir"),
        (f"{case}/dir", "link_absdir"),
        ("../outside.txt", "link_out"),
        ("nowhere", "dangling"),
        ("loop", "loop"),
        (f"{case}/new_by_link", "link_absdangling"),
        ("target", "changes/link"),
        (f"{case}/changes/abstarget", "changes/abslink"),
    ):
        os.symlink(text, f"{case}/{name}")
    write(f"{shared}/outside.txt", "outside\n")
    write(f"{shared}/other/o.txt", "other\n")
    for directory, directories, files in os.walk(shared):
        for name in directories + files:
            os.utime(os.path.join(directory, name), ns=(10**18, 10**18), follow_symlinks=False)


library, calls = map(os.path.abspath, sys.argv[1:3])
outcomes = []
copied = ["b.txt", "dir/y.txt"]
with Pair(library, build, copied) as pair:
    outcomes.append(report("every call", pair.compare([calls, pair.case])))
with AliasPair(library, build, copied) as pair:
    outcomes.append(report("every call by another name", pair.compare([calls, pair.base + "/al:ias%/case"])))
with PlacedPair(library, build, copied) as pair:
    outcomes.append(report("every call with files in another pool", pair.compare([calls, pair.case])))
    outcomes.append(report("files in another pool", [] if pair.count else ["there are none"]))
if can_bind():
    with NamespacePair(library, build, copied) as pair:
        outcomes.append(report("every call beside a namespace", pair.compare([calls, pair.case])))
else:
    outcomes.append(skip("every call beside a namespace", "mounting needs a privilege that is missing"))
finish(outcomes)
