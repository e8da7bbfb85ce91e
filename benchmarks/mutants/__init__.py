"""Mutants: the code with one small fault at a time. A test must fail for each, or the fault would go unseen.

python -m benchmarks.mutants                                   a sample of every room
python -m benchmarks.mutants --room engine --count 30 --seed 7 more of one room, others than before
"""
