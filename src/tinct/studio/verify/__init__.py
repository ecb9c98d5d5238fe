"""The Verify page: drop in a table, get the verdict, the profile and the worst edge."""
