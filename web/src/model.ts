// One step with what views ask again and again: rows by id, sums over a selection, findings and transfers of a row.
import {addCounts} from './causes';
import {buildTree, type Tree} from './tree';
import type {Counts, Finding, Kernel, Op, Report, Step, Transfer} from './schema';

export interface StepModel {
  report: Report;
  step: Step;
  index: number;
  ops: Map<number, Op>;
  kernels: Map<number, Kernel>;
  findingsOf: Map<number, Finding[]>;
  transfersOf: Map<number, Transfer[]>;
  rowsOfOp: Map<string, number[]>;
  units: string[];
  slots: Map<string, number>;
  roofs: Roof[];
  tree: Tree;
}

/** A memory's roof: its rate, and the rate of the MXU above it; with where the step stands. */
export interface Roof {
  memory: string;
  flops: number;
  bytes: number;
  bytes_per_second: number;
  flops_per_second: number;
  origins: [string, string]; // of the two rates
}

export interface Sum {
  cycles: number;
  us: number;
  causes: Counts;
  issued: Counts;
  hbm_bytes: number;
  hbm_read_bytes: number;
  hbm_write_bytes: number;
  flops: number;
  flops_unknown: number;
  count: number;
  hbm_us: number;
  mxu_us: number;
  origins: Set<string>;
}

const push = <K, V>(map: Map<K, V[]>, key: K, value: V) => {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
};

export function modelOf(report: Report, index: number): StepModel {
  const step = report.steps[index]!;
  const findingsOf = new Map<number, Finding[]>();
  for (const finding of step.findings) for (const row of finding.rows) push(findingsOf, row, finding);
  const transfersOf = new Map<number, Transfer[]>();
  for (const transfer of step.transfers) if (transfer.row !== null) push(transfersOf, transfer.row, transfer);
  const rowsOfOp = new Map<string, number[]>();
  for (const op of step.ops) push(rowsOfOp, op.op, op.id);
  const ops = new Map(step.ops.map((op) => [op.id, op]));
  const kernels = new Map(step.kernels.map((kernel) => [kernel.id, kernel]));
  return {
    report,
    step,
    index,
    ops,
    kernels,
    findingsOf,
    transfersOf,
    rowsOfOp,
    units: unitsOf(step),
    roofs: roofsOf(report, step),
    slots: new Map(step.units.map((unit) => [unit.unit, unit.slots])),
    tree: buildTree({step, report, ops, kernels}),
  };
}

function roofsOf(report: Report, step: Step): Roof[] {
  const mxu = step.limits.find((limit) => limit.unit === 'FLOP');
  const memories = step.limits.filter((limit) => limit.unit === 'B');
  if (mxu && memories.length) {
    return memories.map((memory) => ({
      memory: memory.limit,
      flops: mxu.amount,
      bytes: memory.amount,
      bytes_per_second: memory.per_second,
      flops_per_second: mxu.per_second,
      origins: [memory.limit_origin, mxu.limit_origin] as [string, string],
    }));
  }
  // Not executed: what the operations count, under the chip's rates.
  const {hbm_bytes_per_second: hbm, bf16_flops_per_second: peak} = report;
  if (!hbm || !peak || !step.ops.length) return [];
  const flops = step.ops.reduce((sum, op) => sum + op.matmul_flops, 0);
  const bytes = step.ops.reduce((sum, op) => sum + op.hbm_bytes, 0);
  const rates = {bytes_per_second: hbm.value, flops_per_second: peak.value};
  return [{memory: 'hbm', flops, bytes, ...rates, origins: [hbm.origin, peak.origin]}];
}

/** The chip's HBM rate in bytes a cycle; 0: not known. */
export function hbmPerCycle(report: Report): number {
  return report.hbm_bytes_per_second && report.clock_hz ? report.hbm_bytes_per_second.value / report.clock_hz : 0;
}

/** Units in the data's order, and those that only operations name. */
function unitsOf(step: Step): string[] {
  const units = new Set(step.units.map((unit) => unit.unit));
  for (const op of step.ops) for (const unit of Object.keys(op.issued)) units.add(unit);
  return [...units];
}

export function sumOf(model: StepModel, rows: Iterable<number>): Sum {
  const sum: Sum = {
    cycles: 0,
    us: 0,
    causes: {},
    issued: {},
    hbm_bytes: 0,
    hbm_read_bytes: 0,
    hbm_write_bytes: 0,
    flops: 0,
    flops_unknown: 0,
    count: 0,
    hbm_us: 0,
    mxu_us: 0,
    origins: new Set(),
  };
  for (const id of rows) {
    const op = model.ops.get(id);
    if (!op) continue;
    sum.cycles += op.cycles;
    sum.us += op.us;
    sum.hbm_bytes += op.hbm_bytes;
    sum.hbm_read_bytes += op.hbm_read_bytes ?? 0;
    sum.hbm_write_bytes += op.hbm_write_bytes ?? 0;
    if (op.flops === null) sum.flops_unknown += 1;
    else sum.flops += op.flops ?? 0;
    sum.count += op.count;
    sum.hbm_us += op.hbm_us;
    sum.mxu_us += op.mxu_us;
    addCounts(sum.causes, op.causes);
    addCounts(sum.issued, op.issued);
    sum.origins.add(op.origin);
  }
  return sum;
}

/** Share of a unit's slots that were filled over `cycles`. */
export function unitShare(model: StepModel, unit: string, issued: Counts, cycles: number): number | null {
  const slots = model.slots.get(unit);
  return slots && cycles > 0 ? (issued[unit] ?? 0) / (slots * cycles) : null;
}

export const usOf = (report: Report, cycles: number): number =>
  report.clock_hz ? (cycles / report.clock_hz) * 1e6 : 0;
