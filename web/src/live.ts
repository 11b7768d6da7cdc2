// What lies in each memory at each position of the schedule.
import type {Buffer, Step} from './schema';

export const whats = ['argument', 'state', 'constant', 'result', 'temporary'] as const;
export type What = (typeof whats)[number];

export interface Live {
  memory: string;
  positions: number;
  sums: Map<What, Float64Array>; // bytes at each position
  total: Float64Array;
  steady: Map<What, number>; // of them there at every position
  peak: number; // position of the most bytes
  limit: number | null;
  limit_text: string;
  limit_origin: string | null;
}

const whatOf = (buffer: Buffer): What =>
  (whats as readonly string[]).includes(buffer.what) ? (buffer.what as What) : 'temporary';

export function positionsOf(step: Step): number {
  let last = step.schedule.length;
  for (const buffer of step.buffers) last = Math.max(last, buffer.last + 1);
  return Math.max(1, last);
}

export function liveOf(step: Step, memory: string): Live {
  const positions = positionsOf(step);
  const sums = new Map(whats.map((what) => [what, new Float64Array(positions + 1)]));
  for (const buffer of step.buffers) {
    if (buffer.memory !== memory) continue;
    const sum = sums.get(whatOf(buffer))!;
    const first = Math.max(0, Math.min(positions - 1, buffer.first));
    const last = Math.max(first, Math.min(positions - 1, buffer.last));
    sum[first]! += buffer.bytes;
    sum[last + 1]! -= buffer.bytes;
  }
  const total = new Float64Array(positions);
  let peak = 0;
  for (const sum of sums.values()) {
    for (let i = 1; i <= positions; ++i) sum[i]! += sum[i - 1]!;
    for (let i = 0; i < positions; ++i) total[i]! += sum[i]!;
  }
  for (let i = 1; i < positions; ++i) if (total[i]! > total[peak]!) peak = i;
  const least = (sum: Float64Array) => sum.subarray(0, positions).reduce((a, b) => Math.min(a, b), Infinity);
  const steady = new Map([...sums].map(([what, sum]) => [what, least(sum)] as const));
  return {memory, positions, sums, total, steady, peak, limit: null, limit_text: '', limit_origin: null};
}

export const livesAt = (step: Step, position: number): Buffer[] =>
  step.buffers.filter((buffer) => buffer.first <= position && position <= buffer.last);
