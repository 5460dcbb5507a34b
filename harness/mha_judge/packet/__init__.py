"""What an interviewer takes along: a packet for each candidate, and the evidence behind it."""
