"""An index that takes additions and deletions."""
