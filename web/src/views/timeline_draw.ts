// Draws the time line's lanes on a canvas: pixel columns from running sums, boxes for what is wide enough.
import {scaleLinear} from 'd3-scale';
import {groups, mainGroup} from '../causes';
import {fitText, type Painter} from '../parts/canvas';
import {percent} from '../format';
import {segmentAt, sumAt, type Lanes} from '../lanes';
import {usOf, type StepModel} from '../model';
import type {Op} from '../schema';

export const gutter = 92;
const places = {
  overview: [0, 20],
  axis: [22, 16],
  layer: [40, 17],
  part: [58, 17],
  op: [76, 22],
  causes: [100, 54],
} as const;
export const unitsTop = 160;
export const unitHeight = 25;

export interface View {
  lanes: Lanes;
  from: number;
  to: number;
  model: StepModel;
}

const toX = (view: View, width: number, cycle: number) =>
  gutter + ((cycle - view.from) / (view.to - view.from)) * (width - gutter);
export const toCycle = (view: View, width: number, x: number) =>
  view.from + ((x - gutter) / (width - gutter)) * (view.to - view.from);

/** Sums at the left edge of every pixel column, and one more. */
function columnSums(lanes: Lanes, sums: Float64Array, from: number, to: number, columns: number): Float64Array {
  const values = new Float64Array(columns + 1);
  for (let i = 0; i <= columns; ++i) {
    const cycle = from + ((to - from) * i) / columns;
    values[i] = sumAt(lanes, sums, cycle, segmentAt(lanes, cycle));
  }
  return values;
}

function drawCauses(
  painter: Painter,
  lanes: Lanes,
  span: [number, number],
  box: [number, number, number, number],
): void {
  const [x0, y0, width, height] = box;
  const columns = Math.max(1, Math.floor(width));
  const cycles = (span[1] - span[0]) / columns;
  const top = new Float64Array(columns);
  for (const group of groups) {
    const sums = columnSums(lanes, lanes.causes.get(group)!, span[0], span[1], columns);
    painter.context.fillStyle = painter.fill(group);
    for (let i = 0; i < columns; ++i) {
      const share = (sums[i + 1]! - sums[i]!) / cycles;
      if (share <= 0) continue;
      const y = top[i]! * height;
      painter.context.fillRect(x0 + i, y0 + y, 1.05, share * height);
      top[i]! += share;
    }
  }
}

function drawShare(painter: Painter, view: View, sums: Float64Array, full: number, top: number, height: number): void {
  const columns = Math.max(1, Math.floor(painter.width - gutter));
  const cycles = (view.to - view.from) / columns;
  const values = columnSums(view.lanes, sums, view.from, view.to, columns);
  painter.context.fillStyle = painter.ink.meter;
  for (let i = 0; i < columns; ++i) {
    const share = Math.min(1, (values[i + 1]! - values[i]!) / cycles / full);
    if (share > 0)
      painter.context.fillRect(
        gutter + i,
        top + height - Math.max(0.6, share * height),
        1.05,
        Math.max(0.6, share * height),
      );
  }
}

/** Neighbours with one name are one box; boxes thinner than a pixel are left to the lanes below. */
function drawNamed(
  painter: Painter,
  view: View,
  lane: readonly [number, number],
  nameOf: (row: number) => string | null | undefined,
): void {
  const {context, ink} = painter;
  const {lanes} = view;
  let i = Math.max(0, segmentAt(lanes, view.from));
  let odd = false;
  while (i < lanes.begin.length && lanes.begin[i]! < view.to) {
    const name = nameOf(lanes.row[i]!);
    let last = i;
    // What lies between operations does not cut a layer into pieces.
    for (let next = i + 1; next < lanes.begin.length; ++next) {
      const following = nameOf(lanes.row[next]!);
      if (following === name) last = next;
      else if (following !== undefined) break;
    }
    const x0 = Math.max(gutter, toX(view, painter.width, lanes.begin[i]!));
    const x1 = Math.min(painter.width, toX(view, painter.width, lanes.end[last]!));
    odd = !odd;
    if (typeof name === 'string' && x1 - x0 >= 0.5) {
      context.fillStyle = odd ? ink.line : ink.panel;
      context.fillRect(x0, lane[0], x1 - x0, lane[1]);
      context.strokeStyle = ink.line;
      context.lineWidth = 1;
      context.strokeRect(x0 + 0.5, lane[0] + 0.5, Math.max(0, x1 - x0 - 1), lane[1] - 1);
      const text = fitText(context, name, x1 - x0 - 6);
      context.fillStyle = ink.text;
      if (text) context.fillText(text, x0 + 3, lane[0] + lane[1] / 2 + 4);
    }
    i = last + 1;
  }
}

function drawOps(painter: Painter, view: View, chosen: Set<number>): void {
  const {context, ink} = painter;
  const {lanes, model} = view;
  const [top, height] = places.op;
  let painted = -1;
  for (let i = Math.max(0, segmentAt(lanes, view.from)); i < lanes.begin.length && lanes.begin[i]! < view.to; ++i) {
    const x0 = Math.max(gutter, toX(view, painter.width, lanes.begin[i]!));
    const x1 = Math.min(painter.width, toX(view, painter.width, lanes.end[i]!));
    const hit = chosen.has(lanes.row[i]!);
    if (x1 - painted < 0.4 && !hit) continue;
    painted = x1;
    const op = model.ops.get(lanes.row[i]!);
    const group = op ? mainGroup(op.causes, op.cycles) : 'O';
    context.fillStyle = painter.fill(group);
    const width = Math.max(0.5, x1 - x0 - (x1 - x0 > 3 ? 0.6 : 0));
    context.fillRect(x0, top, width, height - 5);
    const text = x1 - x0 > 24 ? fitText(context, op?.op ?? 'outside', x1 - x0 - 8) : '';
    if (text) {
      context.fillStyle = ink.back;
      context.globalAlpha = 0.85;
      context.fillRect(x0 + 2, top + 2, context.measureText(text).width + 4, height - 9);
      context.globalAlpha = 1;
      context.fillStyle = ink.text;
      context.fillText(text, x0 + 4, top + 12);
    }
    if (hit) {
      context.fillStyle = ink.mark;
      context.fillRect(x0, top + height - 4, Math.max(1.5, width), 4);
    }
  }
}

function drawAxis(painter: Painter, view: View): void {
  const {context, ink} = painter;
  const scale = scaleLinear()
    .domain([usOf(view.model.report, view.from), usOf(view.model.report, view.to)])
    .range([gutter, painter.width]);
  const ticks = scale.ticks(Math.max(2, Math.floor(painter.width / 110)));
  const format = scale.tickFormat(ticks.length);
  context.fillStyle = ink.dim;
  context.strokeStyle = ink.line;
  for (const tick of ticks) {
    const x = scale(tick);
    context.beginPath();
    context.moveTo(x + 0.5, places.axis[0] + 10);
    context.lineTo(x + 0.5, painter.height);
    context.stroke();
    context.fillText(`${format(tick)} us`, x + 3, places.axis[0] + 11);
  }
}

function drawOverview(painter: Painter, view: View): void {
  const {context, ink} = painter;
  const [top, height] = places.overview;
  const width = painter.width - gutter;
  drawCauses(painter, view.lanes, [0, view.lanes.length], [gutter, top, width, height]);
  const x0 = gutter + (view.from / view.lanes.length) * width;
  const x1 = gutter + (view.to / view.lanes.length) * width;
  context.fillStyle = ink.back;
  context.globalAlpha = 0.7;
  context.fillRect(gutter, top, x0 - gutter, height);
  context.fillRect(x1, top, painter.width - x1, height);
  context.globalAlpha = 1;
  context.strokeStyle = ink.mark;
  context.lineWidth = 2;
  context.strokeRect(x0 + 1, top + 1, Math.max(2, x1 - x0 - 2), height - 2);
}

export function drawAll(painter: Painter, view: View, chosen: Set<number>, hbmFull: number): void {
  const {context, ink} = painter;
  const {model, lanes} = view;
  context.font = `11px ${painter.font}`;
  drawAxis(painter, view);
  const placed = (value: (op: Op) => string | number | null) => (row: number) => {
    const op = model.ops.get(row);
    if (!op || op.count === 0) return undefined;
    const name = value(op);
    return name === null ? null : String(name);
  };
  drawNamed(
    painter,
    view,
    places.layer,
    placed((op) => op.layer),
  );
  drawNamed(
    painter,
    view,
    places.part,
    placed((op) => op.part),
  );
  drawOps(painter, view, chosen);
  drawCauses(
    painter,
    lanes,
    [view.from, view.to],
    [gutter, places.causes[0], painter.width - gutter, places.causes[1]],
  );
  let top = unitsTop;
  const label = (text: string, x: number, y: number) => {
    context.fillStyle = ink.dim;
    context.fillText(text, x, y);
  };
  label('step', 3, 14);
  label('layer', 3, places.layer[0] + 13);
  label('part', 3, places.part[0] + 13);
  label('operation', 3, places.op[0] + 13);
  label('causes', 3, places.causes[0] + 30);
  const lane = (name: string, sums: Float64Array, full: number) => {
    context.strokeStyle = ink.line;
    context.lineWidth = 1;
    context.strokeRect(gutter + 0.5, top + 0.5, painter.width - gutter - 1, unitHeight - 3);
    drawShare(painter, view, sums, full, top, unitHeight - 2);
    label(name, 3, top + 15);
    const mean =
      (sumAt(lanes, sums, view.to, segmentAt(lanes, view.to)) -
        sumAt(lanes, sums, view.from, segmentAt(lanes, view.from))) /
      (view.to - view.from) /
      full;
    context.textAlign = 'right';
    label(percent(mean), gutter - 6, top + 15);
    context.textAlign = 'left';
    top += unitHeight;
  };
  if (hbmFull > 0) lane('HBM', lanes.hbm, hbmFull);
  for (const [unit, sums] of lanes.units) lane(unit, sums, 1);
  drawOverview(painter, view);
}
