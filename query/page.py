"""The live page at /, and the files that it needs: ours, and plotly's JavaScript out of its Python package."""

from __future__ import annotations

import asyncio
import gzip
from functools import cache
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
async def page(request: Request) -> Response:
    return await _file(request, "index.html")


@router.get("/static/{name}")
async def static(request: Request, name: str) -> Response:
    return await _file(request, name)


async def _file(request: Request, name: str) -> Response:
    """A file of ours by its bare name; plotly's is large, so it goes compressed, and is kept by the browser."""
    path = Path(str(files("plotly"))) / "package_data" / _PLOTLY if name == _PLOTLY else _STATIC / Path(name).name
    if path.suffix not in _KINDS or not path.is_file():
        raise not_found("file", f"there is no {name!r} here", example="/")
    kind = _KINDS[path.suffix]
    if name != _PLOTLY:
        return FileResponse(path, media_type=kind, headers={"Cache-Control": "no-cache"})
    headers = {"Cache-Control": "max-age=86400", "Vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return FileResponse(path, media_type=kind, headers=headers)
    packed = await asyncio.to_thread(_packed, path)
    return Response(packed, media_type=kind, headers={**headers, "Content-Encoding": "gzip"})


@cache
def _packed(path: Path) -> bytes:
    """The file, compressed once."""
    return gzip.compress(path.read_bytes(), 6, mtime=0)
