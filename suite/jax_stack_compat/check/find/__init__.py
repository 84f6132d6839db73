"""The search of `find`, which the box of the pages has in JavaScript: one index, the same words, the same order."""
