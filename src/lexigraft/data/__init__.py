"""Where text comes in: collections read as streams of documents, queries and judgements."""
