"""A static linter for Triton GPU kernels and the code that launches them."""

__version__ = "0.1.0"
