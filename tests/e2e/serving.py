"""A study's server in a process of its own, and raters who click."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from random import Random
from urllib.parse import urlsplit


def start(folder, *options):
    """Start the server and return it with its links by whose they are; it listens when this returns."""
    command = [sys.executable, "-m", "xlingual", "study", "serve", str(folder), *options]
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    links, line = {}, process.stdout.readline()
    if not line.startswith("Serving"):
        raise AssertionError(line + process.stdout.read())
    while "reach" not in line:
        words = line.split()
        if len(words) == 2:
            links[words[0]] = words[1]
        line = process.stdout.readline()
        if not line:
            break
    return process, links


@contextmanager
def server(folder, *options):
    """Serve for the length of a block."""
    process, links = start(folder, *options)
    try:
        yield links
    finally:
        stop(process)


def stop(process):
    """End a server as a reboot does."""
    process.terminate()
    process.wait(120)
    process.stdout.close()


def post(link, path, fields, timeout=60):
    """Send an answer as the page's script does; return the status, or None where nothing came back."""
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    headers = {"Content-Type": "application/x-www-form-urlencoded", "HX-Request": "true"}
    try:
        connection.request("POST", parts.path + path, fields, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Clicker(threading.Thread):
    """A rater who clicks at random, and remembers what the server said was saved, and what it did not say."""

    def __init__(self, link, study, number, pause=0.02):
        super().__init__(daemon=True)
        self._link, self._pause, self._random = link, pause, Random(number)
        self._order = study.orders[number % len(study.orders)]
        self.rater, self.done, self.said = str(number + 1), False, 0
        self.possible = defaultdict(set)  # what may be on the disk
        self.saved = set()  # what must be there

    def run(self):
        """Click until told to stop."""
        while not self.done:
            number = self._random.randrange(len(self._order))
            page = self._order[number]
            name, score = self._random.choice(page.suggestions), self._random.randint(1, 4)
            status = post(self._link, f"/page/{number + 1}", f"score-{name}={score}")
            place = (page.query, name, page.occasion)
            if status == 200:
                self.possible[place], self.said = {score}, self.said + 1
                self.saved.add(place)
            elif status is None:
                self.possible[place].add(score)
            time.sleep(self._pause)

    def lost(self, ratings):
        """Return what was said to be saved and is not there, or is not what was sent."""
        mine = {(r.query, r.suggestion, r.occasion): r.score for r in ratings if r.rater == self.rater}
        gone = [place for place in self.saved if place not in mine]
        wrong = [place for place, score in mine.items() if score not in self.possible[place]]
        return gone + wrong
