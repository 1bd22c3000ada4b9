"""What several releases tell together: one file for each family of composition theorems."""
