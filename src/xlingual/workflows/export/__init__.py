"""Trained models for other programs: folders of sentence-transformers, ONNX graphs."""

from xlingual.workflows.export.export import FORMATS, Exported, export_model

__all__ = ["FORMATS", "Exported", "export_model"]
