"""The documentation as a site: what `make site` does to the pages before MkDocs builds them."""
