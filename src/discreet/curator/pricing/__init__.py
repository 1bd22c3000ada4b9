"""What an answer costs: noise, mechanisms and charges, chosen from public limits alone."""
