"""The only numba: arrays and scalars in, arrays out. No fastmath: order and infinities matter here."""
