"""Show the typed report: terminal, Markdown, page, notebook and charts. A view computes nothing."""
