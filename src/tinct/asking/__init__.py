"""Ask: from data and a question to one private answer, as truthful as any can be, charged to a budget."""

from tinct.asking.accuracy import Accuracy
from tinct.asking.answers import Answer, Plan
from tinct.asking.asking import ask, plan
from tinct.asking.needs import needed_epsilon

__all__ = ["Accuracy", "Answer", "Plan", "ask", "needed_epsilon", "plan"]
