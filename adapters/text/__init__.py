"""What terminal and page both say in words."""
