"""`forebay bench openfoam`: unmodified solvers. The demonstration uses its cases and timed runs."""
