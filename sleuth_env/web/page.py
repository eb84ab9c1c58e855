"""One page as one file: style, script and data lie in it, and it asks for nothing else.

It opens from a disk as well as from a server. Whatever comes from outside, such as names of players, is
text: escaped in the markup, or data that the script reads.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from .modules import in_one_script, read_static
from .packing import packed

# A browser is told to load nothing, and to run nothing but this script.
POLICY = (
    "default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
{body}
{data}
{script}
</body>
</html>
"""


def make_page(
    title: str, body: str, styles: tuple[str, ...], script: str | None = None, data: Mapping[str, Any] | None = None
) -> str:
    """Return a page as one HTML file.

    Args:
        title: of the page, any text.
        body: its markup, in which texts are escaped already.
        styles: names of the files of its style.
        script: the name of the module that it runs, such as ``replay``; None: none.
        data: plain data by names; ``data.js`` reads it.

    Raises:
        ModuleFormError: see `in_one_script`.
    """
    code = "" if script is None else _inert(f"\n{in_one_script(script)}\n")
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = POLICY.format(digest=digest)
    texts = (f'<script type="text/plain" id="{name}">{packed(value)}</script>' for name, value in (data or {}).items())
    # Braces in what is put in are left alone.
    return PAGE.format(
        policy=policy,
        title=escape(title),
        style="\n".join(read_static(name).strip() for name in styles),
        body=body,
        data="\n".join(texts),
        script=f'<script type="module">{code}</script>' if code else "",
    )


def _inert(code: str) -> str:
    r"""Return a script in which nothing ends the element around it.

    >>> print(_inert("const end = '</script>'; // <!--"))
    const end = '<\/script>'; // <\!--
    """
    return re.sub(r"<(?=/script|!--)", lambda found: "<\\", code, flags=re.I)
