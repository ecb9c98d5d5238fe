"""One file for each format in which a graph can be read or written."""
