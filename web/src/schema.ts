// What the page is given: sublane.explain/2. Members that a smaller run leaves out are optional here; the page shows
// what there is.

export type Origin = 'measured' | 'simulated' | 'compiler' | 'datasheet' | 'assumed' | string;
/** Cycles by cause, and bundles' slots by unit. */
export type Counts = Record<string, number>;

/** A rate of the chip. */
export interface Rate {
  value: number;
  origin: Origin;
}

export interface Memory {
  origin: Origin;
  used_bytes?: number;
  usable_bytes?: number;
  hbm_bytes?: number;
  arguments?: number;
  argument_data?: number;
  outputs?: number;
  aliased?: number;
  temporaries?: number;
  code?: number;
  donated_state?: number;
}

export interface UnitUse {
  unit: string;
  issued: number;
  origin: Origin;
  slots: number; // of a bundle
  slots_origin: Origin;
  share: number;
}

/** What moved or was computed in a step, against the most that the chip can. */
export interface LimitUse {
  limit: string; // "hbm", "vmem", "mxu"
  amount: number;
  unit: 'B' | 'FLOP' | string;
  origin: Origin;
  per_second: number;
  limit_origin: Origin;
  us: number; // that the amount takes at least
  share: number;
}

export interface Finding {
  rule: string;
  what: string;
  cure: string | null;
  edit?: string | null; // the cure, where it is mechanical
  ops: string[];
  sources: string[];
  rows: number[]; // all operations; without them, those of the names in ops
  us: number | null;
  gain_us: number | null;
  gain_origin: Origin | null;
  evidence: string[];
}

export interface Op {
  id: number;
  layer: number | '*' | null;
  part: string | null;
  kind: string;
  op: string;
  kernel: string | null;
  kernel_id: number | null;
  count: number;
  cycles: number;
  us: number;
  error: number | null;
  class: string | null;
  origin: Origin;
  hbm_bytes: number;
  hbm_read_bytes: number | null;
  hbm_write_bytes: number | null;
  flops: number | null;
  matmul_flops: number;
  bound: 'none' | 'hbm' | 'mxu' | string;
  hbm_us: number;
  mxu_us: number;
  share: number;
  memory: string | null;
  shape: string | null;
  source: string | null;
  causes: Counts;
  issued: Counts;
  flags: string[];
}

export interface Loop {
  parent: number | null;
  first: number;
  last: number;
  iterations: number;
  cycles: number;
  causes: Counts;
  issued: Counts;
}
/** executions, waited cycles, cause, loop or -1, text; and the source line, where it is known. */
export type Bundle = [number, number, string, number, string, number?];

export interface Kernel {
  id: number;
  name: string;
  rows: number[];
  cycles: number;
  causes: Counts;
  issued: Counts;
  vmem_bytes: number | null;
  spill_bytes: number | null;
  source: string | null;
  loops: Loop[];
  bundles?: Bundle[];
}

export interface Transfer {
  row: number | null;
  kernel: number | null;
  bundle: number | null;
  from: string;
  to: string;
  count: number;
  bytes: number;
  pieces: number;
  flight_cycles: number;
  waited_cycles: number;
  remote: boolean;
}

export interface Buffer {
  op: string;
  shape: string;
  memory: string;
  what: string;
  bytes: number;
  data_bytes: number | null;
  first: number;
  last: number;
}

export interface Step {
  name: string;
  bucket: string | null;
  fingerprint: string | null;
  rung: 'bundles' | 'compiler' | 'roofline' | string;
  origin: Origin;
  reason: string | null;
  hint: string | null;
  total_us: number;
  error: {relative: number; class: string; points: number; covered_share: number} | null;
  cycles: number;
  launch_us: number;
  causes: Counts;
  bundles: number;
  transfers: Transfer[];
  transfer_count: number | null;
  hbm_read_bytes: number | null;
  hbm_write_bytes: number | null;
  compiler_us: {value: number; origin: Origin} | null;
  memory: Memory | null;
  units: UnitUse[];
  limits: LimitUse[];
  notes: string[];
  findings: Finding[];
  ops: Op[];
  kernels: Kernel[];
  buffers: Buffer[];
  schedule: string[];
  timeline: [number, number, number][];
}

/** One side of a line or of a step: sublane.diff/1. */
export interface DiffSide {
  us: number;
  origin: Origin;
  count: number;
  hbm_bytes: number;
  causes_us: Counts;
  ops: string[];
}
export interface DiffError {
  us: number | null; // smaller changes are not to be told from the simulator's own error
  origin: Origin;
  class: string | null;
  covered_share: number;
}
export interface DiffLine {
  place: string;
  kind: string;
  change_us: number;
  before: DiffSide;
  after: DiffSide;
  layers?: string | null;
  error?: DiffError | null;
  resolvable?: boolean | null; // null: no error is known
  parts?: DiffLine[];
}
export interface DiffStep {
  name: string;
  change_us: number;
  before: DiffSide;
  after: DiffSide;
  lines: DiffLine[];
  error: DiffError | null;
  resolvable: boolean | null;
}
export interface Diff {
  before: string;
  after: string;
  settings: Record<string, {before: string; after: string}>;
  steps: DiffStep[];
}

export interface Report {
  schema: string;
  subject: string;
  detail: string | null;
  chip: string;
  devices: number;
  compiler: string | null;
  simulator: string | null;
  model_hash: string | null;
  clock_hz: number;
  flags: string[];
  assumptions: string[];
  focus: string | null;
  redacted?: boolean;
  hbm_bytes_per_second: Rate | null;
  bf16_flops_per_second: Rate | null;
  vmem_bytes?: Rate | null;
  steps: Step[];
  diff?: Diff | null;
  /** Lines of the kernels' own source: file name to [number of the first line, lines]. */
  source_text?: Record<string, [number, string[]]>;
}
