"""What a collection of any size takes: measured rates times arithmetic."""
