"""Central against local: what it costs if nobody is trusted."""
