"""One module for each command, and those that several of them are made of.

`options` and `settings` say what is asked for, `checking` and `changes` do it, `reporting` shows what came
of it.
"""
