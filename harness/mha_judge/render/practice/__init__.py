"""What practice has come to, in a terminal and as a page."""
