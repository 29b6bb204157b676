"""gVisor's packets and log lines to one trace."""
