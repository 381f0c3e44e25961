"""TL1xx: what is read and written, and what keeps it inside its tensor."""
