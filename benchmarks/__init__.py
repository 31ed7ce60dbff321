"""Speed against peers, as ratios of commands run in turn."""
