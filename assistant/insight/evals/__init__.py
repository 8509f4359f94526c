"""What people rejected, changed or found wrong, as cases that a model can be tried on again."""
