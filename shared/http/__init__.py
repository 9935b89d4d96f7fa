"""What every HTTP surface shares: requests, answers, error dialects, admission, one log line a request."""
