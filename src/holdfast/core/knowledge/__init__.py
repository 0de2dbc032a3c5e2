"""Knowledge: instruction files, rules, imports, skills and notes, and who may trust them."""
