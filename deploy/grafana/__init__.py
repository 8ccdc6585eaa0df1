"""Grafana's dashboards as code: `python -m deploy.grafana.build` writes dashboards/*.json."""
