"""A room: a document that several people edit in browsers, graded as they go, and its record."""
