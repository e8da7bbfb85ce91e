"""Studies: each a generator that says what to edit, ask and compare, and the file that declares it."""
