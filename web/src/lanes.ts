// The time line as running sums, so that the mean of any stretch of time is two look-ups, whatever the zoom.
import {groupOf, groups, type Group} from './causes';
import type {StepModel} from './model';

export interface Lanes {
  measured: boolean; // false: rows one after another, since nothing was executed
  begin: Float64Array; // of segment i; sorted
  end: Float64Array;
  row: Int32Array;
  length: number; // cycles
  causes: Map<Group, Float64Array>; // running sums at the end of segment i
  units: Map<string, Float64Array>;
  hbm: Float64Array; // bytes
}

function segments(model: StepModel): {list: [number, number, number][]; measured: boolean} {
  const given = model.step.timeline.filter((entry) => entry[2] > entry[1]);
  if (given.length) return {list: given.slice().sort((a, b) => a[1] - b[1]), measured: true};
  let at = 0;
  const list: [number, number, number][] = [];
  for (const op of model.step.ops) {
    if (op.cycles <= 0) continue;
    list.push([op.id, at, at + op.cycles]);
    at += op.cycles;
  }
  return {list, measured: false};
}

/** Within an operation everything is spread evenly: a step's data say how much, not when. */
export function lanesOf(model: StepModel): Lanes {
  const {list, measured} = segments(model);
  const count = list.length;
  const lanes: Lanes = {
    measured,
    begin: new Float64Array(count),
    end: new Float64Array(count),
    row: new Int32Array(count),
    length: 0,
    causes: new Map(),
    units: new Map(),
    hbm: new Float64Array(count),
  };
  for (const group of groups) lanes.causes.set(group, new Float64Array(count));
  for (const unit of model.slots.keys()) lanes.units.set(unit, new Float64Array(count));
  const running = new Map<string, number>();
  const add = (key: string, sums: Float64Array, i: number, amount: number) => {
    const next = (running.get(key) ?? 0) + amount;
    running.set(key, next);
    sums[i] = next;
  };
  list.forEach(([row, begin, end], i) => {
    lanes.begin[i] = begin;
    lanes.end[i] = end;
    lanes.row[i] = row;
    const op = model.ops.get(row);
    const part = op && op.cycles > 0 ? (end - begin) / op.cycles : 0;
    const byGroup = new Map<Group, number>();
    let known = 0;
    for (const [cause, cycles] of Object.entries(op?.causes ?? {})) {
      byGroup.set(groupOf(cause), (byGroup.get(groupOf(cause)) ?? 0) + cycles * part);
      known += cycles * part;
    }
    byGroup.set('N', (byGroup.get('N') ?? 0) + Math.max(0, end - begin - known));
    for (const [group, sums] of lanes.causes) add(group, sums, i, byGroup.get(group) ?? 0);
    for (const [unit, sums] of lanes.units)
      add(`unit ${unit}`, sums, i, ((op?.issued[unit] ?? 0) * part) / (model.slots.get(unit) || 1));
    add('hbm', lanes.hbm, i, (op?.hbm_bytes ?? 0) * part);
  });
  lanes.length = Math.max(count ? lanes.end[count - 1]! : 0, measured ? 0 : model.step.cycles);
  return lanes;
}

/** Index of the segment that `cycle` is in or behind; -1: before all. */
export function segmentAt(lanes: Lanes, cycle: number): number {
  let low = 0;
  let high = lanes.begin.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lanes.begin[middle]! <= cycle) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The running sum at a cycle, between segments' ends by proportion. */
export function sumAt(lanes: Lanes, sums: Float64Array, cycle: number, segment: number): number {
  if (segment < 0) return 0;
  const before = segment > 0 ? sums[segment - 1]! : 0;
  const begin = lanes.begin[segment]!;
  const end = lanes.end[segment]!;
  const part = cycle >= end ? 1 : (cycle - begin) / (end - begin);
  return before + (sums[segment]! - before) * part;
}
