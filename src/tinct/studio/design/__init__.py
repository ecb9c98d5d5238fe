"""The Design page: choose datasets and budgets, see the optimal mechanism."""
