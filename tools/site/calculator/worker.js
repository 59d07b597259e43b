// Python, numpy and the library in a worker of the browser: a message { id, request } is answered
// by { id, answer }. Until Python runs there are messages { progress, text } and, where it cannot
// run, one { failed }.

import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from "./shim/index.js";

// A function with an empty try_table, which is valid only where WebAssembly has exceptions.
const WITH_EXCEPTIONS = new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, 0, 0x1f, 0x40, 0,
  0x0b, 0x0b,
]);

// Run once; then _page() answers the request in a file, so that no request becomes code. Python was
// started when its file was made, with a larger zip file, whose places it forgets.
const START = `
import sys, zipimport
sys.path_importer_cache.clear()
zipimport._zip_directory_cache.clear()
import json
from sensitivity_lab.page.answer import answer as _answer

def _page():
    try:
        with open("/tmp/request", encoding="utf-8") as file:
            found = _answer(json.load(file))
    except Exception as error:
        text = f"This is a fault of the calculator: {type(error).__name__}: {error}"
        found = {"ok": False, "field": "", "message": text}
    print(json.dumps(found))

print("started", end="")
`;

const folder = (files) => new Directory(new Map(Object.entries(files)));

/** The content of files, unpacked; told(share) hears how much of all of them is there. */
async function fetched(names, told) {
  const responses = await Promise.all(names.map((name) => fetch(new URL(name, import.meta.url))));
  const wrong = responses.find(({ ok }) => !ok);
  if (wrong) throw new Error(`${wrong.url} cannot be loaded (${wrong.status})`);
  const total = responses.reduce((sum, { headers }) => sum + +headers.get("Content-Length"), 0);
  let done = 0;
  const count = (part) => {
    done += part.length;
    told(total && Math.min(done / total, 1));
  };
  return Promise.all(responses.map((response) => unpacked(response.body.getReader(), count)));
}

/** A stream without gzip, which some servers have taken away already. */
async function unpacked(reader, count) {
  let next = await reader.read();
  const zipped = next.value[0] === 0x1f && next.value[1] === 0x8b;
  const stream = new ReadableStream({
    async pull(to) {
      if (next.done) return to.close();
      count(next.value);
      to.enqueue(next.value);
      next = await reader.read();
    },
  });
  return zipped ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
}

/** A running Python that takes turns: run(code) returns what the code has printed. */
class Python {
  constructor(zip) {
    const text = new TextDecoder();
    this.requests = folder({});
    this.printed = "";
    this.errors = new File([]); // no terminal, on which Python would draw progress bars
    const python = { "python315.zip": new File(zip, { readonly: true }) };
    const files = { usr: folder({ local: folder({ lib: folder(python) }) }), tmp: this.requests };
    const streams = [
      new OpenFile(new File([])),
      new ConsoleStdout((bytes) => (this.printed += text.decode(bytes, { stream: true }))),
      new OpenFile(this.errors),
      new PreopenDirectory("/", new Map(Object.entries(files))),
    ];
    const environment = ["HOME=/tmp", "TMPDIR=/tmp", "PYTHONTZPATH=", "NO_COLOR=1"];
    this.system = new WASI(["/usr/local/bin/python.wasm"], environment, streams, { debug: false });
  }

  async start(module) {
    const imports = { wasi_snapshot_preview1: this.system.wasiImport, host: { call: () => -1 } };
    this.system.inst = await WebAssembly.instantiate(module, imports);
    this.system.inst.exports._initialize?.();
    if (this.run(START) !== "started") {
      throw new Error(new TextDecoder().decode(this.errors.data).trim().split("\n").at(-1));
    }
    return this;
  }

  run(code) {
    const { host_alloc: allocate, memory, turn } = this.system.inst.exports;
    const bytes = new TextEncoder().encode(code);
    this.printed = "";
    const place = allocate(bytes.length) >>> 0;
    new Uint8Array(memory.buffer).set(bytes, place);
    turn(place, bytes.length);
    return this.printed;
  }

  answer(request) {
    const file = new File(new TextEncoder().encode(JSON.stringify(request)));
    this.requests.contents.set("request", file);
    return JSON.parse(this.run("_page()"));
  }
}

const loading = (progress, text) => postMessage({ progress, text });

async function loaded() {
  if (typeof WebAssembly !== "object" || !WebAssembly.validate(WITH_EXCEPTIONS)) {
    throw new Error("it has no WebAssembly with exceptions; browsers since 2025 have it");
  }
  const told = (share) => loading(0.9 * share, "Loading Python, 30 MB"); // then Python starts
  const streams = await fetched(["python.wasm.gz", "python.zip.gz"], told);
  const wasm = new Response(streams[0], { headers: { "Content-Type": "application/wasm" } });
  const zip = new Response(streams[1]).arrayBuffer();
  return { module: await WebAssembly.compileStreaming(wasm), zip: await zip };
}

async function started() {
  const { module, zip } = await (files ??= loaded());
  loading(0.95, "Starting Python");
  return new Python(zip).start(module);
}

let files, python;

function begin() {
  python = started();
  python.catch((error) => postMessage({ failed: error.message }));
}

begin();

onmessage = async ({ data: { id, request } }) => {
  const running = await python.catch(() => null);
  if (!running) return; // as was told
  try {
    postMessage({ id, answer: running.answer(request) });
  } catch (error) {
    // WebAssembly ended within an answer, as where it has no more memory.
    const message = `Python ended within this computation (${error.message}); choose a smaller one`;
    postMessage({ id, answer: { ok: false, field: "", message } });
    begin();
  }
};
