"""Exact numbers: what somebody wrote, and bounds that are rounded in a known direction."""
