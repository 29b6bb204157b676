"""A GitHub App that answers for deployments: webhooks in, reviews out (docs/deploy.md)."""
