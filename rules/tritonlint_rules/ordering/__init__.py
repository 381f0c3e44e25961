"""TL6xx: the order in which programs visit the tiles of a GEMM."""
