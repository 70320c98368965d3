"""What servers of pages share: the guard before every answer, limits, connections, files and templates.

`static/htmx-2.0.11.min.js` is htmx 2.0.11 as published on npm (htmx.org, Zero-Clause BSD: htmx-LICENSE.txt).
"""
