"""What the benchmarks and the demonstration share: cases, timed runs, figures, reports. Standard library only."""
