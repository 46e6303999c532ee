"""What one kill of the campaign is: everything follows from its seed, so that a failing seed can be run again."""

import dataclasses
import random

SEEDS = range(1, 301)
# Ten for `make test`: one of each kind at least, and the ways in, layouts and numbers of ranks between them.
TEN = (2, 10, 12, 16, 31, 51, 53, 87, 134, 177)

FOREIGN = "foreign"  # another writer: a file in each time that has no closing line (foreign.c)
PART_FOREIGN, PART_EARLY, PART_COLLATED = 0.2, 0.1, 0.2  # of the seeds
STEPS = 800
STATE_EVERY = 50
OBJECTS_EVERY = 10

# A process, all of them, or all of them and the pool. Seeds take turns, so that each kind has its share.
KINDS = ("rank", "mpirun", "run", "exec", "agent", "keeper", "all", "all and the pool")
# What lives when the solver has ended and its results are brought home.
OUTLIVES_THE_SOLVER = ("run", "exec", "agent", "keeper", "all")


@dataclasses.dataclass(frozen=True)
class Plan:
    seed: int
    kind: str
    ranks: int  # 1: undecomposed, without mpirun
    purge: int
    objects: tuple  # function objects that write every OBJECTS_EVERY steps, the solver every STATE_EVERY; and FOREIGN
    way: str
    layout: str
    io_ranks: tuple  # OpenFOAM's own collated file handler writes groups that begin with these; else ()
    drain_when: str
    safe_interval: int  # seconds
    moment: str  # "start": as soon as the process is there; "step": in a step; "end": after the solver's last line
    step: int
    delay: float  # seconds after the moment

    def describe(self):
        ranks = "serial" if self.ranks == 1 else f"{self.ranks} ranks"
        moment = f"step {self.step}" if self.moment == "step" else f"the {self.moment}"
        return (
            f"{self.kind} at {moment} + {self.delay * 1e3:.0f} ms; {ranks}, purge {self.purge}, "
            f"{' and '.join(self.objects)}, {self.way}, {self.layout_told()}, {self.drain_when}, {self.safe_interval} s"
        )

    def layout_told(self):
        return f"groups of OpenFOAM's own from {self.io_ranks}" if self.io_ranks else self.layout


def plan_of(seed):
    chance = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    ranks = chance.choice((2, 2, 2, 2, 4, 4, 4, 1))
    if ranks == 1 and kind == "mpirun":
        ranks = 2
    moment = chance.choice(("start", "step", "step", "step", "step", "write", "write", "write", "end", "end"))
    if moment == "end" and kind not in OUTLIVES_THE_SOLVER:
        moment = "step"
    step = chance.randrange(1, STEPS)
    delay = {"start": 0.3, "step": 0.015, "write": 0.008, "end": 0.3}[moment] * chance.random()
    # Of their own: what a seed is in all else stays.
    variants = random.Random(f"variants of {seed}")
    foreign, early = variants.random() < PART_FOREIGN, variants.random() < PART_EARLY
    if moment == "write":  # a kill soon after a step has begun that writes a state may cut a file
        moment, step = "step", max(1, round(step / STATE_EVERY)) * STATE_EVERY
    purge = chance.choice((0, 1, 1, 2))
    objects = chance.choice((("vorticity",), ("writeObjects",), ("vorticity", "writeObjects")))
    if early:  # U and p of some times are there, and no state
        moment, step, delay = "step", variants.randrange(OBJECTS_EVERY, STATE_EVERY), 0.015 * variants.random()
        objects = ("writeObjects",)
    way = chance.choice(("namespace", "redirect", "path"))
    layout = "collated" if ranks > 1 and chance.random() < 0.2 else "verbatim"
    handler = random.Random(f"handler of {seed}")
    collated = handler.random() < PART_COLLATED and ranks > 1 and layout == "verbatim" and not foreign
    return Plan(
        seed=seed,
        kind=kind,
        ranks=ranks,
        purge=purge,
        objects=objects + ((FOREIGN,) if foreign else ()),
        way=way,
        layout=layout,
        io_ranks=handler.choice(((0,), tuple(range(0, ranks, 2)))) if collated else (),
        drain_when=chance.choice(("live", "end")),
        safe_interval=chance.choice((1, 1, 1, 2, 600)),
        moment=moment,
        step=step,
        delay=delay,
    )
