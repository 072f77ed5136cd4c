"""Reports which versions are quarantined; `consumers` processes the results of scans."""
