"""The process that serves a model: loads the weights, says where it listens, ends with its parent.

Loading holds the interpreter, so that no signal and no thread gets through until it is done. Two
processes share the work: one loads and serves, the other watches the pipe from the parent and kills
both when it closes, however the parent ended and however far loading has come.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from typing import Any

from holdfast.child_process import framed, heard


def main() -> None:
    """Serve what the parent names, until it is gone or the server has ended."""
    told: dict[str, Any] = json.loads(heard(sys.stdin.buffer) or b"{}")
    ended, running = os.pipe()
    if os.fork() == 0:
        os.close(ended)
        _serve(told)
    else:
        os.close(running)
        select.select([sys.stdin.fileno(), ended], [], [])
        os.killpg(0, signal.SIGKILL)


def _serve(told: dict[str, Any]) -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library prints is no answer
    said = {"wrong": "nothing was said about what to serve"}
    try:
        server = _loaded(told)
        said = {"url": f"{server.listening_address}/v1"}
    except ImportError:
        said = {"wrong": "a model on this machine needs xllamacpp; pip install 'holdfast[local]'"}
    except Exception as failed:
        path = told.get("weights")
        said = {"wrong": f"{path} cannot be loaded: {failed}; check whether it is a GGUF file"}
    answers.write(framed(json.dumps(said).encode()))
    answers.flush()
    while "url" in said:
        signal.pause()


def _loaded(told: dict[str, Any]) -> Any:
    import xllamacpp

    library: Any = xllamacpp
    params = library.CommonParams()
    params.model.path = told["weights"]
    params.model_alias = {told["name"]}
    params.n_ctx, params.n_parallel, params.warmup = told["window"], 1, False
    params.api_keys = [told["key"]]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = told["threads"]
    params.verbosity = 0
    return library.Server(params)


if __name__ == "__main__":
    main()
