// Rows of a table on the server, fetched in pages when they are looked at. Only a few pages are kept.
import { aborted, ask } from "./asking.js";

const SIZE = 200, KEPT = 12;

export class PagedRows {
  // `arrived(first, last)` is called when rows came; `failed(words)` when they could not.
  constructor(path, query, { arrived, failed }) {
    this.path = path;
    this.query = query;
    this.arrived = arrived;
    this.failed = failed;
    this.total = null;
    this.columns = [];
    this.pages = new Map(); // place → rows, the one used last at the end
    this.asked = new Map(); // place → AbortController
  }
  row(index) {
    const place = Math.floor(index / SIZE), page = this.pages.get(place);
    if (!page) return null;
    this.pages.delete(place);
    this.pages.set(place, page);
    return page[index - place * SIZE] ?? null;
  }
  // Asks for what is missing between two rows, and gives up on pages that are no longer looked at.
  want(first, last) {
    const from = Math.floor(Math.max(0, first) / SIZE), to = Math.floor(Math.max(0, last) / SIZE);
    for (const [place, control] of this.asked) if (place < from || place > to) { control.abort(); this.asked.delete(place); }
    for (let place = from; place <= to; place++)
      if (!this.pages.has(place) && !this.asked.has(place) && (this.total === null || place * SIZE < this.total || place === 0)) this.fetch(place);
  }
  // Asks again for what is visible; the old rows stay until the new ones are here.
  again(first, last) {
    const from = Math.floor(Math.max(0, first) / SIZE), to = Math.floor(Math.max(0, last) / SIZE);
    for (const place of [...this.pages.keys()]) if (place < from || place > to) this.pages.delete(place);
    for (let place = from; place <= to; place++) if (!this.asked.has(place)) this.fetch(place);
  }
  async fetch(place) {
    const control = new AbortController();
    this.asked.set(place, control);
    const asked = new URLSearchParams(this.query);
    asked.set("offset", place * SIZE);
    asked.set("limit", SIZE);
    try {
      const found = await ask(`${this.path}?${asked}`, { signal: control.signal });
      this.total = found.total;
      this.columns = found.columns;
      const names = found.columns.map(column => column.name);
      this.pages.set(place, found.rows.map(row => Object.fromEntries(names.map((name, at) => [name, row[at]]))));
      while (this.pages.size > KEPT) this.pages.delete(this.pages.keys().next().value);
      this.asked.delete(place);
      this.arrived(place * SIZE, place * SIZE + found.rows.length - 1);
    } catch (error) {
      if (this.asked.get(place) === control) this.asked.delete(place);
      if (!aborted(error)) this.failed(error.message);
    }
  }
  close() {
    for (const control of this.asked.values()) control.abort();
    this.asked.clear();
    this.pages.clear();
    this.arrived = this.failed = () => {};
  }
}
