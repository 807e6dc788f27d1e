"""Made-up plans played on logs in memory, with bad luck, on virtual time."""
