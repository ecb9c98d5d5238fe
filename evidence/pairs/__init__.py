"""Neighbouring data sets by the thousand: what a release shows may differ by the answer, and by no more than it may."""
