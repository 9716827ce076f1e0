"""Where neighbouring datasets come from: descriptions of records, searches, mutations, chains, and minimising."""
