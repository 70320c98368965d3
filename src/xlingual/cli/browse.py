"""`xlingual browse`: queries, neighbours and a map in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import store_of, within_cost
from xlingual.errors import InputError, MissingExtraError
from xlingual.extras import missing
from xlingual.requests import values
from xlingual.requests.browsing import BrowseRequest

if TYPE_CHECKING:
    from xlingual.browsing.looking import Looking


@command(BrowseRequest)
def browse(request: BrowseRequest) -> None:
    """Browse queries in a web page: what each query retrieved in every language, with images and a map.

    RESULTS is a folder that `xlingual evaluate backretrieval … --out DIR` or `… crosslingual-retrieval …`
    wrote. The page is available on this machine only, until Ctrl-C. Marks and notes are saved to a file.
    --static writes one HTML file of the failed queries instead; it needs no server.
    """
    from xlingual.browsing.looking import open_looking
    from xlingual.browsing.marks import FILE, Marks
    from xlingual.browsing.serve import check_host
    from xlingual.results import Results

    static = request.static
    if static is None:
        if missing("browse"):
            raise MissingExtraError("the server of browse", "browse")
        check_host(request.host)
    elif static.is_dir():
        raise InputError(f"--static {static} is a folder: name a file, such as {static / 'failures.html'}")
    given = keywords(request, open_looking)
    given |= {
        "results": Results.read(request.results),
        "store": store_of(request.keeping),
        "marks": Marks(request.marks or request.results / FILE),
        "text_encoders": within_cost(request.text_encoders, request.keeping),
        "vectors": static is None,
    }
    with screen.warnings_as_lines(), screen.progress(request.quiet) as progress:
        looking = open_looking(**given, progress=progress)
    if static is None:
        _serve(looking, request)
    else:
        _write(looking, request)


def _serve(looking: Looking, request: BrowseRequest) -> None:
    from xlingual.browsing.serve import serve

    def ready(address: str) -> None:
        screen.say(f"{request.results} is shown at {address}  (Ctrl-C stops it)")
        for why in dict.fromkeys([*looking.spaces.without.values(), looking.spaces.no_images]):
            if why:
                screen.say(f"  {why}")
        screen.say("Only this machine reaches it, by this address alone.")
        if request.opens:
            import webbrowser

            webbrowser.open(address)

    title = f"{request.results.resolve().name} · {looking.task}"
    serve(looking, title, ready, host=request.host, port=request.port, encoders=request.encoders)
    screen.say(f"\nStopped. Marks and notes are in {looking.marks.path}.")


def _write(looking: Looking, request: BrowseRequest) -> None:
    from xlingual.browsing.static_file import write_static

    assert request.static is not None
    names = ("outcome", "source", "target", "kind", "slice", "rank")
    wanted = looking.named(
        encoder=next(iter(request.encoders), None), **{name: values(request)[name] for name in names}
    )
    written = write_static(looking, wanted, request.static, request.chosen.most)
    screen.wrote(request.static, quiet=request.quiet)
    if written.left_out and not request.quiet:
        screen.say(
            f"{written.left_out:,} further queries are left out: raise --most, or choose fewer by --slice, "
            "--kind …"
        )
