"""Reports: tables, plots and one HTML file, from result files only."""
