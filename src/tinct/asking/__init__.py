"""Ask: from data and a question to one private answer, optimal and charged to a budget."""

from tinct.asking._ask import ask, plan
from tinct.asking._needed_epsilon import needed_epsilon
from tinct.asking.accuracy import Accuracy
from tinct.asking.answers import Answer, Answers, Plan
from tinct.asking.reading_check import ReadingCheck, check_reading

__all__ = ["Accuracy", "Answer", "Answers", "Plan", "ReadingCheck", "ask", "check_reading", "needed_epsilon", "plan"]
