"""What each section of the page says: plain rows and finished charts for the templates."""
