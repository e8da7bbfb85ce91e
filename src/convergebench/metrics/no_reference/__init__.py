"""Single images without a reference: how natural, or how damaged, they look."""
