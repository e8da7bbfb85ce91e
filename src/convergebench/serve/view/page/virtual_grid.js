// A grid of any size with only the visible cells in the document. Nodes are used again, so memory stays flat.
import { make } from "./make.js";

const OVER = 1; // rows and columns beyond the edge

export class VirtualGrid {
  // `cell` makes an empty cell, `fill(cell, row, column)` and `head(node, row)` draw one, `clear(cell)` ends its loading,
  // `seen(first, last)` hears which rows are visible, `chosen(row, column)` which cell the keys moved to.
  constructor({ label, cell, fill, clear, head = null, seen = () => {}, chosen = () => {} }) {
    Object.assign(this, { cell, fill, clear, head, seen, chosen });
    this.space = make("div", { class: "space", role: "presentation" });
    this.box = make("div", { class: "grid", role: "grid", "aria-label": label, tabindex: -1 }, this.space);
    this.live = new Map();
    this.free = [];
    this.size = { rows: 0, columns: 1, width: 100, height: 100, above: 0 };
    this.at = [0, 0];
    this.asked = 0;
    this.box.addEventListener("scroll", () => this.later(), { passive: true });
    this.box.addEventListener("keydown", event => this.key(event));
    this.box.addEventListener("focusin", event => {
      const found = event.target.closest("[role=gridcell]");
      if (found) this.moveTo(Number(found.dataset.row), Number(found.dataset.column), { focus: false });
    });
  }
  // `above`: height of the head of each row, over its cells.
  layout(size) {
    this.size = { ...this.size, ...size };
    const { rows, columns, width, height } = this.size;
    this.space.style.height = `${rows * height}px`;
    this.space.style.width = `${columns * width}px`;
    this.box.setAttribute("aria-rowcount", rows);
    this.box.setAttribute("aria-colcount", columns);
    for (const row of this.live.values()) this.release(row);
    this.live.clear();
    this.draw();
  }
  later() {
    if (!this.asked) this.asked = requestAnimationFrame(() => { this.asked = 0; this.draw(); });
  }
  window() {
    const { rows, columns, width, height } = this.size, box = this.box;
    const top = Math.max(0, Math.floor(box.scrollTop / height) - OVER), left = Math.max(0, Math.floor(box.scrollLeft / width) - OVER);
    return {
      top, left,
      bottom: Math.min(rows - 1, Math.floor((box.scrollTop + box.clientHeight) / height) + OVER),
      right: Math.min(columns - 1, Math.floor((box.scrollLeft + box.clientWidth) / width) + OVER),
    };
  }
  draw() {
    const { top, bottom, left, right } = this.window();
    for (const [index, row] of this.live) if (index < top || index > bottom) { this.live.delete(index); this.release(row); }
    if (bottom >= top) this.seen(top, bottom);
    for (let index = top; index <= bottom; index++) {
      let row = this.live.get(index);
      if (!row) {
        row = this.taken(index);
        this.live.set(index, row);
      }
      for (const [column, cell] of row.cells) if (column < left || column > right) { row.cells.delete(column); row.spare.push(cell); cell.hidden = true; this.clear(cell); }
      for (let column = left; column <= right; column++) if (!row.cells.has(column)) this.place(row, index, column);
    }
    this.roving();
  }
  taken(index) {
    const row = this.free.pop() ?? { node: make("div", { class: "line", role: "row" }), cells: new Map(), spare: [], head: null };
    if (this.head && !row.head) row.node.append((row.head = make("div", { class: "line-head", role: "rowheader" })));
    row.index = index;
    row.node.hidden = false;
    row.node.style.top = `${index * this.size.height}px`;
    row.node.style.height = `${this.size.height}px`;
    row.node.setAttribute("aria-rowindex", index + 1);
    if (!row.node.isConnected) this.space.append(row.node);
    if (this.head) this.head(row.head, index);
    return row;
  }
  release(row) {
    for (const cell of row.cells.values()) { row.spare.push(cell); cell.hidden = true; this.clear(cell); }
    row.cells.clear();
    row.node.hidden = true;
    this.free.push(row);
  }
  place(row, index, column) {
    const cell = row.spare.pop() ?? this.cell();
    const { width, height, above } = this.size;
    if (!cell.isConnected) row.node.append(cell);
    cell.dataset.row = index;
    cell.dataset.column = column;
    cell.style.left = `${column * width}px`;
    cell.style.top = `${above}px`;
    cell.style.width = `${width}px`;
    cell.style.height = `${height - above}px`;
    cell.setAttribute("aria-colindex", column + 1);
    cell.hidden = this.fill(cell, index, column) === false;
    row.cells.set(column, cell);
  }
  // Draws again what is visible: data came, or the chosen cell changed.
  refresh() {
    for (const [index, row] of this.live) {
      if (this.head) this.head(row.head, index);
      for (const [column, cell] of row.cells) cell.hidden = this.fill(cell, index, column) === false;
    }
    this.roving();
  }
  cellAt(row, column) { return this.live.get(row)?.cells.get(column) ?? null; }
  // One cell is in the tab order; the arrow keys move from it.
  roving() {
    for (const [index, row] of this.live) for (const [column, cell] of row.cells) {
      const mine = index === this.at[0] && column === this.at[1];
      cell.firstChild?.setAttribute("tabindex", mine ? 0 : -1);
      cell.classList.toggle("chosen", mine);
    }
  }
  moveTo(row, column, { focus = true, told = true } = {}) {
    const { rows, columns, width, height } = this.size, box = this.box;
    this.at = [Math.max(0, Math.min(rows - 1, row)), Math.max(0, Math.min(columns - 1, column))];
    const [top, left] = [this.at[0] * height, this.at[1] * width];
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    if (left < box.scrollLeft) box.scrollLeft = left;
    else if (left + width > box.scrollLeft + box.clientWidth) box.scrollLeft = left + width - box.clientWidth;
    this.draw();
    if (focus) this.cellAt(...this.at)?.firstChild?.focus({ preventScroll: true });
    if (told) this.chosen(...this.at);
  }
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [row, column] = this.at, page = Math.max(1, Math.floor(this.box.clientHeight / this.size.height) - 1), wide = this.size.columns;
    const turned = by => { const place = row * wide + column + by; return this.flows ? [Math.floor(place / wide), ((place % wide) + wide) % wide] : [row, column + by]; };
    const to = { ArrowRight: () => turned(1), ArrowLeft: () => turned(-1), ArrowDown: () => [row + 1, column], ArrowUp: () => [row - 1, column],
      PageDown: () => [row + page, column], PageUp: () => [row - page, column], Home: () => (event.shiftKey ? [0, 0] : [row, 0]), End: () => (event.shiftKey ? [this.size.rows - 1, wide - 1] : [row, wide - 1]) }[event.key]?.();
    if (!to || to[0] < 0) return;
    event.preventDefault();
    this.moveTo(...to);
  }
  close() {
    cancelAnimationFrame(this.asked);
    for (const row of this.live.values()) this.release(row);
    this.live.clear();
    this.free = [];
    this.box.remove();
  }
}
