"""What the benchmarks of all products and the demonstration share: starting programs, figures, reports. Standard library only."""
