"""What people and programs can do: one function a use case, which every door calls."""
