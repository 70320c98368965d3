"""Benchmarks: each measures something and asserts, in the same function, that the answer is right.

`python -m benchmarks` runs all, `python -m benchmarks NAME …` some. Times are ratios to a peer or to the bare
matrix product, taken in one run on one thread: absolute times say more about the machine.
"""
