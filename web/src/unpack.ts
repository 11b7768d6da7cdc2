// The data lies in the page as base64 of gzip of JSON. Missing members become empty ones here, once, so that no view
// has to ask.
import type {Bundle, Kernel, Op, Report, Step} from './schema';

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

function completeStep(step: Step): Step {
  const transfers = Array.isArray(step.transfers) ? step.transfers : [];
  return {
    ...step,
    name: step.name ?? '',
    cycles: number(step.cycles),
    total_us: number(step.total_us),
    launch_us: number(step.launch_us),
    causes: step.causes ?? {},
    units: list(step.units),
    memories: list(step.memories),
    roofline: list(step.roofline),
    transfers,
    findings: list(step.findings).map((finding) => ({
      ...finding,
      ops: list(finding.ops),
      sources: list(finding.sources),
      rows: list(finding.rows),
      evidence: list(finding.evidence),
    })),
    ops: list(step.ops).map(completeOp),
    kernels: list(step.kernels).map(completeKernel),
    buffers: list(step.buffers),
    schedule: list(step.schedule),
    timeline: list(step.timeline),
  };
}

function complete(report: Report): Report {
  return {
    ...report,
    subject: report.subject ?? '',
    flags: list(report.flags),
    assumptions: list(report.assumptions),
    limits: list(report.limits),
    steps: list(report.steps).map(completeStep),
    diff: report.diff ?? null,
  };
}
