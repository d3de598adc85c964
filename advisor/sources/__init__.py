"""Where progress comes from: files, a running session, a cluster."""
