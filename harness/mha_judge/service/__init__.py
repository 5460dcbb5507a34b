"""The judge behind HTTP: `store` keeps grades on disk, `queue` queues them, `app` is the routes."""
