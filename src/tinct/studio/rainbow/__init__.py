"""The Rainbow page: several answers, each dataset with an order of preference."""
