// Requests to the server that served this page. An error is one line, made to be read.
const part = encodeURIComponent;

export async function ask(path, { signal } = {}) {
  let reply;
  try {
    reply = await fetch(path, { signal, headers: { accept: "application/json" } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; is cbench view still running?");
  }
  return answer(reply);
}

export async function send(path, form) {
  const word = document.querySelector("meta[name=word]").content;
  let reply;
  try {
    reply = await fetch(path, { method: "POST", body: form, headers: { "x-view-word": word } });
  } catch (error) {
    throw new Error("The server does not answer; is cbench view still running?");
  }
  return answer(reply);
}

async function answer(reply) {
  let content = null;
  try { content = await reply.json(); } catch (error) { /* not JSON: the status has to do */ }
  if (!reply.ok) throw new Error(content?.error || `The server answered ${reply.status}.`);
  if (content === null) throw new Error("The server's answer cannot be read.");
  return content;
}

export const aborted = error => error?.name === "AbortError";

export const api = (run, ...rest) => ["/api/runs", ...[run, ...rest].map(part)].join("/");
export const runPath = run => `/run/${part(run)}`;
export const chainPath = (run, chain, query = "") => `/run/${part(run)}/chain/${part(chain)}${query ? "?" + query : ""}`;
export const imagePath = (run, image) => `/image/${part(run)}/${part(image)}`;
export const thumbPath = (run, image, size) => `/thumb/${part(run)}/${part(image)}?size=${size}`;
export const tilePath = (run, image) => `/tile/${part(run)}/${part(image)}`;
export const mapPath = (run, image, other, kind) => `/map/${part(run)}/${part(image)}/${part(other)}/${kind}`;
export const wornPath = (run, image) => `/worn/${part(run)}/${part(image)}`;
