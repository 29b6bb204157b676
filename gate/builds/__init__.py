"""What a build writes into what users receive, and what it leaves out: settings of bundlers as data."""
