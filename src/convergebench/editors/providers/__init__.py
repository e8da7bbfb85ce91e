"""Editors that call providers and servers: one file or folder each, on shared base classes.

`table` lists them. `remote` is the base of all; `wired` adds our own HTTP client, `sdk` the providers' libraries,
`hosted` platforms that host many models, `own_server` self-hosted servers. `download` and `proportions` are helpers.
"""
