"""What only teachers need: the students' archive, grading, an export, slides. No archive contains it."""
