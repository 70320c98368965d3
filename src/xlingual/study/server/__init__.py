"""The web pages on which people rate. Reads what raters may see and nothing else: the key stays shut.

`static/htmx-2.0.11.min.js` is htmx 2.0.11 as published on npm (htmx.org, Zero-Clause BSD: htmx-LICENSE.txt).
"""
