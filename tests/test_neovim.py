"""A real editor: Neovim opens a file, shows what the server says, applies a fix and saves."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys

import pytest
from conftest import UNMASKED as BAD

pytestmark = [
    pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed"),
    pytest.mark.skipif(importlib.util.find_spec("pygls") is None, reason="pygls is not installed"),
]

SESSION = """
local answer = {}
local client = vim.lsp.start_client({ cmd = CMD, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, client)

local function wait_for(count)
    return vim.wait(30000, function() return #vim.diagnostic.get(0) == count end, 50)
end

answer.shown = wait_for(1)
answer.diagnostics = vim.diagnostic.get(0)
vim.api.nvim_win_set_cursor(0, { 8, 8 })
local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics() }
local replies = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 10000)
local action = replies[client].result[1]
answer.title = action.title
vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
answer.silent = wait_for(0)
vim.cmd("write")
local hover = vim.lsp.buf_request_sync(0, "textDocument/hover", vim.lsp.util.make_position_params(), 10000)
answer.hover = hover[client].result.contents.value
vim.lsp.stop_client(client)
answer.stopped = vim.wait(10000, function() return vim.lsp.client_is_stopped(client) end, 50)
vim.fn.writefile({ vim.fn.json_encode(answer) }, "answer.json")
vim.cmd("quitall!")
"""


def test_open_fix_and_save(tmp_path):
    (tmp_path / "tritonlint.toml").write_text("")
    (tmp_path / "kernels.py").write_text(BAD)
    command = [sys.executable, "-m", "tritonlint", "server"]
    words = ", ".join(json.dumps(word) for word in command)
    (tmp_path / "session.lua").write_text(SESSION.replace("CMD", f"{{ {words} }}"))
    done = subprocess.run(
        ["nvim", "--headless", "--clean", "-n", "kernels.py", "-c", "luafile session.lua"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (tmp_path / "answer.json").exists(), done.stdout + done.stderr
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert (answer["shown"], answer["silent"], answer["stopped"]) == (True, True, True)
    (one,) = answer["diagnostics"]
    assert (one["code"], one["source"], one["lnum"], one["col"]) == ("TL101", "tritonlint", 7, 8)
    assert answer["title"] == "mask with `at < n`"
    assert "is kept inside below `n`" in answer["hover"]
    assert (tmp_path / "kernels.py").read_text() == BAD.replace("x_ptr + at)", "x_ptr + at, mask=at < n)")
