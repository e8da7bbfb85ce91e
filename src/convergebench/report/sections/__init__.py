"""The sections of a page: rows and charts for the templates."""
