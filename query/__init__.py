"""HTTP API over skyline views: ask a view anything, now or in the past, and follow its changes."""
