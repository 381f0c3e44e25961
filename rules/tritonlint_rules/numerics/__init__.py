"""TL5xx: sums that lose bits."""
