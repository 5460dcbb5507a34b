"""The judge behind HTTP: `store` keeps grades on disk, `desk` queues them, `app` is the routes."""
