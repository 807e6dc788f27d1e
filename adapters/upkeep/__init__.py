"""What keeps a home sound: doctor, backup, and adopting one that was moved."""
