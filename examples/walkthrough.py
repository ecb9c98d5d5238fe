"""Asking a survey, step by step: a script, and a notebook in editors that know ``# %%`` cells."""

# %% [markdown]
# # Asking a survey, step by step
#
# Run this file as it is (`python examples/walkthrough.py`), or open it as a notebook: every `# %%` starts a cell.

# %%
from pathlib import Path
from tempfile import mkdtemp

import tinct
from tinct.asking import needed_epsilon, plan

survey = Path(__file__).parent / "survey.csv"

# %% [markdown]
# ## 1. Plan first
#
# A plan says everything except the answer. It draws nothing and costs nothing.

# %%
question = tinct.majority("support")
proposal = plan(survey, question, epsilon="0.5", delta="0.001", unit="person_id")
print(proposal.meaning)
for margin, right in zip(proposal.accuracy.margins, proposal.accuracy.right["tinct"], strict=True):
    print(f"  right with probability {right:.4f} if {margin} people or more would have to join or leave")

# %% [markdown]
# How much ε would it take to be right in 99 of 100 cases when the margin is 50 people or more?

# %%
print("needed: ε =", needed_epsilon(question, right="0.99", margin=50))

# %% [markdown]
# ## 2. Keep a budget, and ask
#
# The ledger is charged before a row is read. Its owner says who is one person. The same request, asked again, is free.

# %%
people = tinct.Protection(unit="person_id")
ledger = tinct.Ledger(Path(mkdtemp()) / "budget.db", epsilon=2, delta="0.01", protects=people)
options = {"epsilon": "0.5", "delta": "0.001", "ledger": ledger}
answer = tinct.ask(survey, question, request="support-2026", **options)
again = tinct.ask(survey, question, request="support-2026", **options)
print(answer.value, "| left:", answer.left, "| asked again, free:", again.value == answer.value and again.repeated)

# %% [markdown]
# ## 3. Which reason is the most frequent?

# %%
reasons = ["travel time", "cost", "climate", "noise", "shops", "other"]
favourite = tinct.ask(survey, tinct.mode("reason", reasons), epsilon="0.5", ledger=ledger)
print(favourite.value, "|", favourite.plan.method)

# %% [markdown]
# ## 4. One answer for each ward
#
# A person lives in one ward, so the budget is spent once. Wards nobody declared are found privately.

# %%
wards = tinct.ask(survey, question, epsilon="0.9", delta="0.001", by="ward", ledger=ledger)
for ward, value in wards.value.items():
    print(f"  {ward}: {value}")
print("left:", ledger.remaining())

# %% [markdown]
# ## 5. Check it yourself
#
# The table an answer is drawn from is a certificate; anybody can prove it again.

# %%
certificate = tinct.exact.line(tinct.Privacy("0.5", "0.001")).about(str(question), "add-remove")
print("the same certificate:", certificate.id == answer.plan.certificate)
print(certificate.proof)
