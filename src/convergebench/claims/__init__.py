"""Claims of papers as data, and whether the numbers confirm them.

A claim names the cells of tables it is about and how they compare. The same claim is checked against the table that
the paper prints and against the tables of your own runs. `claim` and `operand` define the file format, `read` reads
it, `tables` finds the tables, `sides` and `kinds` evaluate a test, `check` does so for many claims and runs, and
`output` writes the results to files. `data` holds the claims and tables of four papers.
"""
