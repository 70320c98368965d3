"""The folder of a study. All of it can be moved; a server needs none of what is in `secret/`.

Files:
    study.json            texts, pages and orders: what raters may see
    title.md              title and instructions, for the organiser to edit
    images/               pictures, by names drawn at random
    ratings.sqlite        what raters said, and who they are (numbers and links)
    secret/key.json       which system made what; opened by the analysis alone
    links.csv             a link for each rater, and the organiser's: to hand out
"""

from __future__ import annotations

STUDY_FILE, TITLE_FILE, IMAGES, RATINGS = "study.json", "title.md", "images", "ratings.sqlite"
KEY_FILE, LINKS_FILE = "secret/key.json", "links.csv"
STUDY_SCHEMA, KEY_SCHEMA = "xlingual/study/1", "xlingual/study_key/1"
