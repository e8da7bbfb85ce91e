// Where the zoom gets its pixels: small images as one piece, large ones as tiles.
import { imagePath, mapPath, tilePath, wornPath } from "./asking.js";

const TILE = 512, WHOLE = 2048;

function piece(width, height, path) {
  return { width, height, tileSize: Math.max(width, height), tileOverlap: 0, minLevel: 0, maxLevel: 0, getLevelScale: () => 1, getNumTiles: () => new OpenSeadragon.Point(1, 1), getTileUrl: () => path };
}
export function imageSource(run, { image, width, height }) {
  if (Math.max(width, height) <= WHOLE) return { of: image, ...piece(width, height, imagePath(run, image)) };
  const top = Math.ceil(Math.log2(Math.max(width, height))), least = Math.max(0, top - Math.ceil(Math.log2(Math.max(width, height) / TILE)));
  return { of: image, width, height, tileSize: TILE, tileOverlap: 0, minLevel: least, maxLevel: top, getTileUrl: (level, column, row) => `${tilePath(run, image)}/${level}/${column}_${row}.webp` };
}
export function mapSource(run, step, other, kind, gain) {
  const more = kind === "difference" ? `?gain=${gain}` : "", path = mapPath(run, step.image, other.image, kind);
  return { of: `${kind} ${step.image} ${other.image} ${gain}`, facts: `${path}.json${more}`, ...piece(step.width, step.height, `${path}.png${more}`) };
}
export function wornSource(run, { image, width, height }) {
  const path = wornPath(run, image);
  return { of: `worn ${image}`, facts: `${path}.json`, ...piece(width, height, `${path}.png`) };
}
