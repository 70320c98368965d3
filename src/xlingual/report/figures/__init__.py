"""Figures: from records to drawings and to places on an axis."""
