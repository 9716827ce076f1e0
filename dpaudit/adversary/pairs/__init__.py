"""Generate neighbouring datasets: descriptions of records, searches, mutations, chains, and minimisation."""
