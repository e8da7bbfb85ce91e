"""One module per page of the reference; each has `page()`, which gives the page's text."""
