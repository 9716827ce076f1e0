"""What is asked: a request, the cases that it stands for, and how they share the error α.

Comes in: names, functions, claims, pairs and limits, from any door.
Goes out: jobs, each with its subject, its claim, the pairs to try or how to find them, and its share of α.
May import: `adversary`, `subjects`, `results` and what is below them.
"""
