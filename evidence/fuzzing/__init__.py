"""Byte fuzzing of everything that reads what others wrote: only documented errors, quickly, in little memory."""
