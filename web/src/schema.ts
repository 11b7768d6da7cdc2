// What the page is given: sublane.explain/2. Members that a smaller run leaves out are optional here; the page shows
// what there is.

export type Origin = 'measured' | 'simulated' | 'compiler' | 'datasheet' | 'assumed' | string;
/** Cycles by cause, and bundles' slots by unit. */
export type Counts = Record<string, number>;

export interface Limit {
  name: string;
  value: number;
  unit: string;
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
  slots: number;
  share: number;
  origin: Origin;
}
export interface MemoryUse {
  memory: string;
  bytes: number;
  us: number;
  share: number;
  origin: Origin;
  limit_origin: Origin;
}
export interface Roofline {
  memory: string;
  flops: number;
  bytes: number;
  intensity: number | null;
  reached_flops_per_second: number | null;
  limit_flops_per_second: number;
  limit_bytes_per_second: number;
}

export interface Finding {
  rule: string;
  what: string;
  cure: string | null;
  ops: string[];
  sources: string[];
  rows: number[];
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
  collective: boolean;
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
  transfer_count?: number;
  hbm_read_bytes: number | null;
  hbm_write_bytes: number | null;
  compiler_us: {value: number; origin: Origin} | null;
  memory: Memory | null;
  units: UnitUse[];
  memories: MemoryUse[];
  roofline: Roofline[];
  findings: Finding[];
  ops: Op[];
  kernels: Kernel[];
  buffers: Buffer[];
  schedule: string[];
  timeline: [number, number, number][];
}

export interface DiffLine {
  place: string;
  kind: string;
  before_us: number;
  after_us: number;
  before_bytes: number | null;
  after_bytes: number | null;
  causes_before: Counts | null;
  causes_after: Counts | null;
  ops_before: string[] | null;
  ops_after: string[] | null;
}
export interface DiffStep {
  name: string;
  before_us: number;
  after_us: number;
  resolvable: boolean;
  resolution: number | null;
  lines: DiffLine[];
}
export interface Diff {
  before: string;
  after: string;
  settings: {name: string; before: string | null; after: string | null}[];
  steps: DiffStep[];
}

export interface Report {
  schema: string;
  version: string;
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
  redacted: boolean;
  limits: Limit[];
  steps: Step[];
  diff: Diff | null;
  /** Lines of the kernels' own source: file name to [number of the first line, lines]. */
  source_text?: Record<string, [number, string[]]>;
}
