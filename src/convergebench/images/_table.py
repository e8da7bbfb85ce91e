"""Built-in names → modules. Read only when a name is looked up."""

TABLE: dict[str, str] = {
    "quick": "convergebench.images.shipped:quick",
    "builtin": "convergebench.images.shipped:builtin",
}
