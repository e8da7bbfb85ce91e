"""Built-in parts of analysis → where they live. Read only when a name is looked up."""

TABLE: dict[str, str] = {
    "comparison": "convergebench.analysis.parts:comparison",
    "decay": "convergebench.analysis.parts:decay",
    "factory": "convergebench.analysis.factory.analyse:factory",
    "restoration": "convergebench.analysis.restoration.analyse:restoration",
    "ratings": "convergebench.analysis.ratings.analyse:ratings",
}
