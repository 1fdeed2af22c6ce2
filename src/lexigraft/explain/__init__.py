"""Why a result is a result."""
