"""Who a change is about: identifiers of parties in the changed files, and which became others."""
