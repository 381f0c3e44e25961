"""`tritonlint server`."""

from __future__ import annotations

import click

from tritonlint.commands.refusal import Refusal

SERVER_EPILOG = """\b
Examples:
  tritonlint server                                 editors start this themselves: docs/editors.md
"""


@click.command(epilog=SERVER_EPILOG, short_help="Answer an editor.")
def server() -> None:
    """Answer an editor: the Language Server Protocol over standard input and output."""
    try:
        from tritonlint.lsp.server import serve
    except ImportError as error:
        raise Refusal(f"`server` needs pygls ({error}): pip install 'tritonlint[lsp]'") from error
    serve()
