"""Sentences of papers as data, and whether the figures bear them out.

A claim names the cells of tables it is about and how they compare. The same claim is checked against the table that
the paper prints and against the tables of your own runs. `claim` and `operand` say what can be written, `read` reads
it, `tables` finds the tables, `sides` and `kinds` carry a test out, `check` does so for many claims and runs, and
`written` makes files of the answers. `data` holds the claims and tables of four papers.
"""
