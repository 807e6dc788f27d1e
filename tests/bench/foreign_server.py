"""A server program that nobody here wrote answers a wake: llama.cpp's, through its Python package.

python tests/bench/foreign_server.py [--install] [--venv DIR] [--calls]

A tiny model is made on the spot, of random weights, so that nothing is downloaded but programs;
what it says is nonsense. It shows that a real server takes what we send, and that we take what it
answers: whole in a wake and a question, streamed in a request of its own. Where `--calls` is given,
the server forces the model's nonsense into the form of calls. Building the server takes ten minutes
and a compiler, so it is made only where `--install` is given, in an environment of its own; without
it, and without one that is there, this script says so and ends.
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

PACKAGES = ("llama-cpp-python[server]", "gguf")
STARTED_SECONDS = 120.0
INSTALLED_SECONDS = 3_000
CONTEXT = 65_536
MODEL = r"""
import sys
import gguf
import numpy as np

BYTES, WIDTH, HEADS, HIDDEN = 256, 32, 4, 64
letters = ["\u2581", *map(chr, range(33, 127))]
tokens = ["<unk>", "<s>", "</s>", *(f"<0x{one:02X}>" for one in range(BYTES)), *letters]
writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_context_length(int(sys.argv[2]))
writer.add_embedding_length(WIDTH)
writer.add_block_count(1)
writer.add_feed_forward_length(HIDDEN)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_vocab_size(len(tokens))
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores([-1000.0] * (BYTES + 3) + [-float(one) for one in range(len(letters))])
writer.add_token_types([2, 3, 3] + [6] * BYTES + [1] * len(letters))
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
dice = np.random.default_rng(7)


def add(name, *shape, scale=0.3):
    writer.add_tensor(name, dice.normal(0, scale, shape).astype(np.float32))


def ones(name):
    writer.add_tensor(name, np.ones(WIDTH, dtype=np.float32))


known = dice.normal(0, 0.3, (len(tokens), WIDTH)).astype(np.float32)
known[:, 0] = 3  # the same in every token, and its end is likely after each
writer.add_tensor("token_embd.weight", known)
said = dice.normal(0, 0.3, (len(tokens), WIDTH)).astype(np.float32)
said[:, 0] = 0
said[2] = 0
said[2, 0] = 0.4
writer.add_tensor("output.weight", said)
ones("output_norm.weight")
for name in ("attn_norm", "ffn_norm"):
    ones(f"blk.0.{name}.weight")
for name in ("attn_q", "attn_k", "attn_v"):
    add(f"blk.0.{name}.weight", WIDTH, WIDTH)
add("blk.0.attn_output.weight", WIDTH, WIDTH, scale=0.02)
add("blk.0.ffn_gate.weight", HIDDEN, WIDTH)
add("blk.0.ffn_up.weight", HIDDEN, WIDTH)
add("blk.0.ffn_down.weight", WIDTH, HIDDEN, scale=0.02)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "wakelog-llama")
    parser.add_argument("--calls", action="store_true")
    given = parser.parse_args()
    python: Path = given.venv / "bin" / "python"
    if given.install and not python.exists():
        _install(given.venv, python)
    if not python.exists():
        print(f"no server in {given.venv}: give --install to build one there; nothing was tried")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "tiny.gguf"
        subprocess.run(
            [str(python), "-c", MODEL, str(model), str(CONTEXT)], check=True, timeout=300
        )
        with _serving(python, model, is_calling=given.calls) as url:
            return _wake(Path(folder) / "home", f"openai:tiny@{url}")


def _install(venv: Path, python: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, timeout=300)
    install = [str(python), "-m", "pip", "install", "--quiet", *PACKAGES]
    subprocess.run(install, check=True, timeout=INSTALLED_SECONDS, preexec_fn=lambda: os.nice(15))


@contextmanager
def _serving(python: Path, model: Path, *, is_calling: bool) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    form = ["--chat_format", "chatml-function-calling"] if is_calling else []
    where = ["--host", "127.0.0.1", "--port", str(port)]
    size = ["--n_ctx", str(CONTEXT), "--n_threads", "1"]
    program = [str(python), "-m", "llama_cpp.server", "--model", str(model)]
    command = [*program, *where, *size, *form]
    log = model.with_suffix(".log")
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as server:
        try:
            _until_it_answers(f"http://127.0.0.1:{port}/v1/models", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()
            server.wait(30)
            asked = [
                line for line in log.read_text(errors="replace").splitlines() if "POST" in line
            ]
            print("the server's log:", *asked[-10:], sep="\n  ")


def _until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    last = time.monotonic() + STARTED_SECONDS
    while time.monotonic() < last and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                print("models:", json.loads(response.read())["data"][0]["id"])
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit(f"the server did not start: {server.poll()}")


def _wake(home: Path, model: str) -> int:
    """One wake and one question, then the proof; how far they came is printed."""
    from adapters.models.openai.model import OpenAIModel
    from tests.support.asking import Heard, request
    from tests.support.cli import FIXED, proved, run, told
    from tests.support.consents import agreed
    from tests.support.waking import agent

    agent(home)
    agreed(home, f"openai:*@{model.partition('@')[2].removesuffix('/v1')}")
    for asked in (["wake", "Fix the sink"], ["agent", "ask", "Fix the sink", "How long?"]):
        begun = time.monotonic()
        result = run(["--model", model, *asked], home, FIXED)
        print(f"{' '.join(asked)}: exit {result.exit_code}, {time.monotonic() - begun:.1f} s")
        print("  " + result.output.strip().replace("\n", "\n  ")[:600])
    shown: list[Any] = told(["wakes"], home)
    for one in shown:
        calls = told(["show", one["run_key"]], home)["tool_calls"]
        print({name: one[name] for name in ("model", "outcome", "turns", "error_code")}, calls)
    print("proved:", proved(home), "rows")
    heard, asked_with = Heard(), OpenAIModel(model, "tiny", model.partition("@")[2])
    reply = asyncio.run(asked_with.reply_aloud(request(tools=()), heard))
    print(f"streamed: {len(heard.pieces)} pieces, {heard.text == reply.text}, {reply.usage}")
    return 0 if all(one["turns"] for one in shown if one["model"]) else 1


if __name__ == "__main__":
    sys.exit(main())
