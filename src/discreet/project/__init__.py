"""What every model of privacy shares: terms, the choice of noise, what is charged, the ledger."""
