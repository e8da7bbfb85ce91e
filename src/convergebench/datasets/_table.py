"""Built-in tables that an export can have beside its pictures → where they live. Read when a name is looked up."""

TABLE: dict[str, str] = {
    "measurements": "convergebench.datasets.parts:measurements",
    "labels": "convergebench.datasets.parts:labels",
    "attempts": "convergebench.datasets.factory.part:attempts",
    "products": "convergebench.datasets.factory.part:products",
}
