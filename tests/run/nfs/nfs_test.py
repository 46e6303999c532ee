"""forebay on a real NFSv4.2 with a squashed root, as an ordinary user: tests of other folders, whose cases lie on it.

nfs_test.py NAME, one of those below. FOREBAY, PLAYER, STEPFOAM and FAULT_LIBRARY name what is built here. The processor is
emulated: minutes each.
"""

import os
import sys

import machine

RUN = os.path.dirname(machine.HERE)
AS_USER = os.path.join(RUN, "../as_user")
NEEDS = ("FOREBAY", "PLAYER", "STEPFOAM", "FAULT_LIBRARY")
IN_MACHINE = {"TMPDIR": "/shared", "FOREBAY_TEST_ENOUGH": "300"}
TWENTY = "1-9,11-13,15-18,20-22,25"  # the others up to there have small pools, which only root can mount
# The user asks root for what only root may do to the server.
STEER = f"mkfifo -m 622 /run/server && (while read -r word < /run/server; do {machine.SERVER} $word; done) & sleep 1"
# An emulated processor has as long a step with few cells as a real one with all.
KILLS = f"{RUN}/restart/campaign.py --seeds 1-30 --cells 40 --jobs 1 --minutes 55"

JOBS = {
    "oracle": (f"{AS_USER} /usr/bin/python3 {RUN}/parity/odd_programs_test.py $FOREBAY", 1200),
    "outage": (f"{STEER}\n{AS_USER} /usr/bin/python3 {machine.HERE}/outage_test.py -v", 600),
    "kills": (f"{AS_USER} /usr/bin/python3 {KILLS}", 3600),
    "drive": (f"{AS_USER} /usr/bin/python3 {RUN}/drive/drive.py --seeds {TWENTY} --jobs 1 --minutes 55", 3600),
}


def main(name):
    machine.check_host()
    job, seconds = JOBS[name]
    environment = {each: os.path.abspath(os.environ[each]) for each in NEEDS} | IN_MACHINE
    status = None
    for line in machine.run(job, environment, seconds):
        if isinstance(line, str):
            print(line, flush=True)
        else:
            status = line
    if status is None:
        print(f"the machine ended, or was stopped after {seconds} s, without an exit status", file=sys.stderr)
    return 1 if status is None else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
