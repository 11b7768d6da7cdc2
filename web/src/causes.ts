// Causes of cycles in ten groups. A group has a letter, a colour and a pattern: work is filled, waiting is hatched, so
// that a picture without colour says the same.
import type {Counts} from './schema';

export type Group = 'M' | 'V' | 'X' | 'S' | 'D' | 'T' | 'L' | 'P' | 'O' | 'N';
export const groups: Group[] = ['M', 'V', 'X', 'S', 'D', 'T', 'L', 'P', 'O', 'N'];

export const groupText: Record<Group, {name: string; long: string; work: boolean}> = {
  M: {name: 'MXU', long: 'issue: matrix unit', work: true},
  V: {name: 'vector', long: 'issue: VALU, loads, stores, EUP', work: true},
  X: {name: 'XLU', long: 'issue: cross-lane unit', work: true},
  S: {name: 'scalar', long: 'issue: scalar and others', work: true},
  D: {name: 'dependency', long: "stall: waits for a unit's result", work: false},
  T: {name: 'transfer', long: "stall: waits for a transfer's bytes", work: false},
  L: {name: 'DMA latency', long: "stall: waits for a transfer's latency", work: false},
  P: {name: 'spill', long: 'bundles that only move spilled values', work: false},
  O: {name: 'other', long: 'branch, launch, overlay, semaphore, ...', work: false},
  N: {name: 'estimate', long: 'not modelled: estimated, not executed', work: false},
};

const byCause: Record<string, Group> = {
  'issue:mxu': 'M',
  'issue:valu': 'V',
  'issue:vld': 'V',
  'issue:vst': 'V',
  'issue:eup': 'V',
  'issue:xlu': 'X',
  dma: 'T',
  dma_either: 'T',
  dma_both: 'T',
  waited: 'T',
  dma_latency: 'L',
  spill: 'P',
  not_modelled: 'N',
};

export function groupOf(cause: string): Group {
  const known = byCause[cause];
  if (known) return known;
  if (cause.startsWith('issue:')) return 'S';
  return cause.startsWith('dependency:') ? 'D' : 'O';
}

/** Cycles by group, in the order of `groups`; time without causes is an estimate. */
export function groupCycles(causes: Counts, cycles: number): [Group, number][] {
  const sums = new Map<Group, number>();
  let known = 0;
  for (const [cause, count] of Object.entries(causes)) {
    const group = groupOf(cause);
    sums.set(group, (sums.get(group) ?? 0) + count);
    known += count;
  }
  if (cycles > known) sums.set('N', (sums.get('N') ?? 0) + cycles - known);
  return groups.filter((group) => (sums.get(group) ?? 0) > 0).map((group) => [group, sums.get(group)!]);
}

export function mainGroup(causes: Counts, cycles: number): Group {
  let best: Group = 'N';
  let most = 0;
  for (const [group, count] of groupCycles(causes, cycles)) {
    if (count > most) [best, most] = [group, count];
  }
  return best;
}

/** Largest first. */
export function sortedCauses(causes: Counts): [string, number][] {
  return Object.entries(causes).sort((a, b) => b[1] - a[1]);
}

export function addCounts(into: Counts, from: Counts): void {
  for (const [key, count] of Object.entries(from)) into[key] = (into[key] ?? 0) + count;
}
