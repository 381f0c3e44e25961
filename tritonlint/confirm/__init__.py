"""The runtime mode: a program is run, its launches are caught, and findings are settled by experiments.

Data passes in one direction: `capture` catches a `Launch`; `session` knows the findings of the kernel's file
and asks the `experiments` that fit; each runs on `copies` of the arguments and gives an `Outcome`; `session`
makes the verdicts; `report` shows them. Nothing outside this package imports Triton or torch.
"""
