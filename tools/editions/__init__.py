"""What the book is made into: students' notebooks, slides, PDF, branches."""
