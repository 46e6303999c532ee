"""The version of the package; forebay/version.h has the same (a test compares them)."""

__version__ = "0.1.0"
