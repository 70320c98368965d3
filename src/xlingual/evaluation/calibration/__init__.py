"""Calibration: the true retrieval (XLR) that a Backretrieval stands for, learnt from validations.

`calibrate` is the entry; `model` is the curve and its jackknife+ intervals, `errors` what leaving out shows,
`estimate` its use on an evaluation.
"""

from xlingual.evaluation.calibration.calibrate import calibrate

__all__ = ["calibrate"]
