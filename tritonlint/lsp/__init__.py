"""`tritonlint server`: the linter as a language server, for editors.

Data goes one way: `server` receives what the client says, `checker` turns texts into findings in a thread
of its own, `convert` turns them into the words of the protocol, `actions` and `hover` answer questions.
"""
