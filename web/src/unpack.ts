// The data lies in the page as base64 of gzip of JSON. Missing members become empty ones here, once, so that no view
// has to ask.
import type {Bundle, Diff, DiffLine, DiffSide, Finding, Kernel, Op, Report, Step} from './schema';

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as {fromBase64?: (text: string) => Uint8Array<ArrayBuffer>}).fromBase64;
  if (native) return native(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export async function unpack(base64: string): Promise<Report> {
  const packed = base64.trim();
  if (!packed || packed.startsWith('{{')) throw new Error('the page holds no data: it is the bare template');
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream('gzip'));
  const report = JSON.parse(await new Response(stream).text()) as Report;
  if (!report || typeof report !== 'object' || !/^sublane\.explain\/2(\.|$)/.test(String(report.schema)))
    throw new Error(`the data has schema ${String(report?.schema)}; this page reads sublane.explain/2`);
  return complete(report);
}

const list = <T>(value: T[] | null | undefined): T[] => (Array.isArray(value) ? value : []);
const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

function completeOp(op: Op): Op {
  return {
    ...op,
    op: op.op ?? '',
    kind: op.kind ?? '',
    cycles: number(op.cycles),
    us: number(op.us),
    count: number(op.count),
    hbm_bytes: number(op.hbm_bytes),
    matmul_flops: number(op.matmul_flops ?? op.flops),
    hbm_us: number(op.hbm_us),
    mxu_us: number(op.mxu_us),
    share: number(op.share),
    bound: op.bound ?? 'none',
    causes: op.causes ?? {},
    issued: op.issued ?? {},
    flags: list(op.flags),
  };
}

function completeKernel(kernel: Kernel): Kernel {
  return {
    ...kernel,
    name: kernel.name ?? '',
    rows: list(kernel.rows),
    cycles: number(kernel.cycles),
    causes: kernel.causes ?? {},
    issued: kernel.issued ?? {},
    bundles: list<Bundle>(kernel.bundles),
    loops: list(kernel.loops).map((loop) => ({...loop, causes: loop.causes ?? {}, issued: loop.issued ?? {}})),
  };
}

/** A finding says its rows, or only the names of the slowest operations. */
function completeFinding(finding: Finding, rowsOf: Map<string, number[]>): Finding {
  const ops = list(finding.ops);
  const rows = list(finding.rows);
  return {
    ...finding,
    ops,
    rows: rows.length ? rows : ops.flatMap((op) => rowsOf.get(op) ?? []),
    sources: list(finding.sources),
    evidence: list(finding.evidence),
  };
}

function completeStep(step: Step): Step {
  const ops = list(step.ops).map(completeOp);
  const rowsOf = new Map<string, number[]>();
  for (const op of ops) rowsOf.set(op.op, [...(rowsOf.get(op.op) ?? []), op.id]);
  return {
    ...step,
    name: step.name ?? '',
    cycles: number(step.cycles),
    total_us: number(step.total_us),
    launch_us: number(step.launch_us),
    causes: step.causes ?? {},
    units: list(step.units),
    limits: list(step.limits),
    notes: list(step.notes),
    transfers: list(step.transfers),
    findings: list(step.findings).map((finding) => completeFinding(finding, rowsOf)),
    ops,
    kernels: list(step.kernels).map(completeKernel),
    buffers: list(step.buffers),
    schedule: list(step.schedule),
    timeline: list(step.timeline),
  };
}

const side = (value: DiffSide): DiffSide => ({...value, ops: list(value?.ops), causes_us: value?.causes_us ?? {}});
const diffLine = (line: DiffLine): DiffLine => ({
  ...line,
  before: side(line.before),
  after: side(line.after),
  parts: list(line.parts).map(diffLine),
});

function completeDiff(diff: Diff): Diff {
  const steps = list(diff.steps).map((step) => ({...step, lines: list(step.lines).map(diffLine)}));
  return {...diff, steps};
}

function complete(report: Report): Report {
  return {
    ...report,
    subject: report.subject ?? '',
    flags: list(report.flags),
    assumptions: list(report.assumptions),
    steps: list(report.steps).map(completeStep),
    diff: report.diff ? completeDiff(report.diff) : null,
  };
}
