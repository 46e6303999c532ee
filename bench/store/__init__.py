"""`forebay bench trajectory`: states of a forward run."""
