"""TL3xx: tuning at run time: when it is unwelcome, when it is wrong, when it never ends."""
