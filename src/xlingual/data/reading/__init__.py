"""Reading manifests: from a file to checked text rows."""
