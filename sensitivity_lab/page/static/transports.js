// Two ways to the function answer(request): this machine's Python, which serves the page, and Python
// in WebAssembly, in a worker. A transport has ask(request), which resolves to an answer and never
// rejects; stop(); patience, the milliseconds that a computation may go on for after the page has
// asked for something newer; data, where data stay, in words; and links, where links open.

const KEPT = "sensitivity_lab token";

const INSTALL = `Run it on your own machine instead: pip install sensitivity-lab, then
  sensitivity-lab explore, and open the address that it prints.`;

export const OPEN = `This page opens with the address that sensitivity-lab explore has printed: open
  that address first, then paste this link into that tab.`;

const failed = (message) => ({ ok: false, field: "", message });
const STOPPED = failed("Stopped. Change something to go on.");

/** The token of the local server: from the address, from which it is taken away, or kept. */
export function tokenOf() {
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
  if (token) history.replaceState(null, "", location.pathname);
  try {
    if (token) localStorage.setItem(KEPT, token);
    return localStorage.getItem(KEPT); // so links work in other tabs, too
  } catch {
    return token; // without storage a reload needs the printed address again
  }
}

/** Python of the server; busy(text) hears that it computes for another tab. */
export function localTransport(token, busy) {
  const post = { method: "POST", headers: { "X-Token": token } };
  let stopping = null;

  async function ask(request) {
    await stopping; // a late Stop must not end the next computation
    const body = JSON.stringify(request);
    const headers = { ...post.headers, "Content-Type": "application/json" };
    try {
      const response = await fetch("answer", { ...post, headers, body });
      if (response.status === 403)
        return failed(
          "The server has begun anew. Open the address that sensitivity-lab explore prints.",
        );
      const answer = await response.json();
      if (!answer.busy) return answer;
      busy(answer.message);
    } catch {
      return failed("The server on this machine has ended. Start sensitivity-lab explore again.");
    }
    return ask(request);
  }

  function stop() {
    stopping = fetch("stop", { ...post, keepalive: true }).catch(() => null);
  }

  const data = `The file never leaves this machine: your browser reads it, and only the Python that
    serves this page here gets it.`;
  const links = `It opens on this machine only, while this page runs. To share it, paste the part from
    # on behind the address of the others' own page, or of the page on the site,
    https://sensitivity-lab.github.io/sensitivity_lab/calculator/`;
  return { ask, stop, patience: 1000, data, links };
}

/** Python in a worker; told(progress, text) hears of its loading, and progress 1 ends that. */
export function workerTransport(url, told) {
  let worker = null;
  const open = new Map();
  let last = 0;

  function end(answer) {
    worker?.terminate();
    worker = null;
    told(1, "");
    for (const resolve of open.values()) resolve(answer);
    open.clear();
  }

  function start() {
    const begun = new Worker(url, { type: "module" });
    const fail = (text) => {
      if (worker === begun)
        end(failed(`Python does not start in this browser: ${text}. ${INSTALL}`));
    };
    begun.onerror = (event) => {
      event.preventDefault();
      fail(event.message || "its files cannot be loaded");
    };
    begun.onmessage = ({ data }) => {
      if (worker !== begun) return;
      if (data.failed !== undefined) fail(data.failed);
      else if (data.progress !== undefined) told(data.progress, data.text);
      else {
        told(1, "");
        open.get(data.id)?.(data.answer);
        open.delete(data.id);
      }
    };
    return begun;
  }

  function ask(request) {
    worker ??= start();
    const id = ++last;
    return new Promise((resolve) => {
      open.set(id, resolve);
      worker.postMessage({ id, request });
    });
  }

  const data = "The file never leaves this browser: the page reads it and computes with it here.";
  return { ask, stop: () => end(STOPPED), patience: 4000, data, links: "" };
}
