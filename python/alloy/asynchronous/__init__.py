"""Steps in flight: queues and events, coroutines that await them, memory that they read."""
