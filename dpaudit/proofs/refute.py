def refuted(attempt, outcome, seed):
    return None
