"""Editors behind providers and servers: one file or folder each, over what they share.

`table` names them. `remote` is what all have in common; `wired` adds our own HTTP, `sdk` the providers' libraries,
`hosted` the market places, `own_server` the servers a user runs. `download` and `proportions` are tools of theirs.
"""
