"""Many candidates' answers: found, graded, kept, ranked."""
