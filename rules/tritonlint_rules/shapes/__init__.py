"""TL2xx: the extents of tiles, which Triton wants to be powers of two."""
