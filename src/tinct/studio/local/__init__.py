"""The Local page: two hypotheses, and the randomiser that tells them apart best."""
