// What changed since last time, asked for every second while the run is live.
import { aborted, api, ask } from "./asking.js";

const EVERY = 1000, AFTER_ERROR = 3000, ASLEEP = 10000;

export function watch(run, { starts, news, ended }) {
  const control = new AbortController();
  let token = "", timer = null, was = starts;
  const self = { last: null, close() { clearTimeout(timer); control.abort(); } };
  async function poll() {
    let wait = EVERY;
    try {
      if (!document.hidden || !self.last) {
        const found = await ask(`${api(run, "live")}?since=${encodeURIComponent(token)}`, { signal: control.signal });
        if (!token && !found.live) found.changed = []; // everything is new to the first question
        token = found.token;
        self.last = found;
        news(found);
        if (was && !found.live) await ended();
        was = found.live;
        if (!found.live) wait = ASLEEP; // the same command may continue the run
      }
    } catch (error) {
      if (aborted(error)) return;
      wait = AFTER_ERROR;
    }
    if (!control.signal.aborted) timer = setTimeout(poll, wait);
  }
  poll();
  return self;
}
