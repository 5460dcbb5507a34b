"""A packet as an interviewer reads it, and as machines do."""
