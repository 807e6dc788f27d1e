"""What people and programs can do: one function a deed, which every door calls."""
