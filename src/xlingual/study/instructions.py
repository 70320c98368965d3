"""The title page of a study, as it is written at first; the organiser edits it."""

from __future__ import annotations

from xlingual.study.records import Study

_PAGE = """# {title}

Thank you for taking part. You will see {count} texts, one after the other. Below each are some suggestions.

**For each suggestion, say how relevant it is to the text above:**

{labels}

- Judge each suggestion by itself: any number of them may be "{best}", or none.
- Take what comes to mind first; there is no need to look anything up.
- You can stop whenever you like and go on later with the same link.
"""


def title_page(study: Study) -> str:
    """Return the title page as Markdown: what is asked, and what the scores mean."""
    labels = "\n".join(f"{score}. {label}" for score, label in enumerate(study.labels, start=1))
    count = len(study.orders[0])
    return _PAGE.format(title=study.title, count=count, labels=labels, best=study.labels[0].lower())
