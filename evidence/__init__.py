"""The evidence behind the reliability claims: every check at full length, its numbers kept, one report.

``python -m evidence`` runs everything and writes ``docs/evidence.md``; ``python -m evidence --help`` lists the parts.
"""
