"""TL4xx: what is fixed when a kernel is compiled, and what should not be."""
