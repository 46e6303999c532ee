"""The measurements of `forebay bench io`: docs/run/bench_io.md."""
