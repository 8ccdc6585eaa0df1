"""The live page at /, and the files that it needs: ours, and plotly's JavaScript out of its Python package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from query.problems import not_found

router = APIRouter(include_in_schema=False)

_STATIC: Final = Path(__file__).parent / "static"
_PLOTLY: Final = "plotly.min.js"
_KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


@router.head("/")
@router.get("/")
async def page(_request: Request) -> Response:
    return _file("index.html")


@router.get("/static/{name}")
async def static(_request: Request, name: str) -> Response:
    return _file(name)


def _file(name: str) -> Response:
    """A file of ours by its bare name; plotly's is large and never changes while the service runs."""
    path = Path(str(files("plotly"))) / "package_data" / _PLOTLY if name == _PLOTLY else _STATIC / Path(name).name
    if path.suffix not in _KINDS or not path.is_file():
        raise not_found("file", f"there is no {name!r} here", example="/")
    caching = "max-age=86400" if name == _PLOTLY else "no-cache"
    return FileResponse(path, media_type=_KINDS[path.suffix], headers={"Cache-Control": caching})
