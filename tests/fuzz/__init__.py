"""Readers of bytes from outside, fed with mutated input: `python -m tests.fuzz [TARGET …] --seconds N`.

A fault is any end of a reader but a result or one of the project's own one-line errors, and any input that takes too
much time or memory. The default suite runs every target over its seeds, its past faults and a few mutations.
"""
