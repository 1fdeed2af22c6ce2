"""Training to rank: pairs, losses, regularisers, validation."""
