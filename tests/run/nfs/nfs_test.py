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
DRIVE = f"{RUN}/drive/drive.py --jobs 2 --minutes 50 --each"
TWENTY = "1-9,11-13,15-18,20-22,25"  # the others up to there have small pools, which only root can mount
# The user asks root for what only root may do to the server.
STEER = f"mkfifo -m 622 /run/server && (while read -r word < /run/server; do {machine.SERVER} $word; done) & sleep 1"
# All processes die at once, and a resume follows: the first thirty such seeds that a user can run. The campaign of
# restart/ would take hours here: of its 800 steps OpenFOAM alone does a hundred in a minute, and each kill has two runs.
KILLED = "18,25,27,29,49,81-83,92,96,105,107,114,119,123,130,138,145,150,170,177,184,191,202,213,257,270,271,277,280"

JOBS = {
    "oracle": (f"{AS_USER} /usr/bin/python3 {RUN}/parity/odd_programs_test.py $FOREBAY", 2400),
    "outage": (f"{STEER}\n{AS_USER} /usr/bin/python3 {machine.HERE}/outage_test.py -v", 600),
    "kills": (f"{AS_USER} /usr/bin/python3 {DRIVE} --seeds {KILLED}", 3600),
    "drive": (f"{AS_USER} /usr/bin/python3 {DRIVE} --seeds {TWENTY}", 3600),
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
