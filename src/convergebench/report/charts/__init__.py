"""Charts as inline SVG: small functions of plain rows, coloured by CSS variables."""
