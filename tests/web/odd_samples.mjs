// Variants of a report that a page must live with.
import {add} from './sample_ops.mjs';

/** The diff of a report against one whose cache was copied. */
export function withDiff(report) {
  const [step] = report.steps;
  const lines = new Map();
  for (const op of step.ops) {
    const key = `${op.part ?? ''} ${op.kind}`;
    const line = lines.get(key) ?? {
      place: op.part ?? '',
      kind: op.kind,
      before_us: 0,
      after_us: 0,
      before_bytes: 0,
      after_bytes: 0,
      causes_before: {},
      causes_after: {},
      ops_before: [],
      ops_after: [],
    };
    const factor = op.kind === 'copy' ? 3 : op.part === 'mlp.up' ? 0.9 : 1;
    line.after_us += op.us;
    line.before_us += op.us * factor;
    line.after_bytes += op.hbm_bytes;
    line.before_bytes += Math.round(op.hbm_bytes * factor);
    add(line.causes_after, op.causes);
    add(
      line.causes_before,
      Object.fromEntries(Object.entries(op.causes).map(([cause, cycles]) => [cause, Math.round(cycles * factor)])),
    );
    if (line.ops_after.length < 5) {
      line.ops_after.push(op.op);
      line.ops_before.push(op.op);
    }
    lines.set(key, line);
  }
  const list = [...lines.values()];
  const before_us = list.reduce((sum, line) => sum + line.before_us, 0) + step.launch_us;
  return {
    ...report,
    diff: {
      before: 'llama-3-8b at 1a2b3c',
      after: 'llama-3-8b at 4d5e6f',
      settings: [{name: 'flags', before: '(none)', after: '--xla_tpu_scoped_vmem_limit_kib=65536'}],
      steps: [
        {name: step.name, before_us, after_us: step.total_us, resolvable: true, resolution: 0.03, lines: list},
        {name: 'prefill', before_us: 100, after_us: 101, resolvable: false, resolution: 0.05, lines: []},
      ],
    },
  };
}

/** What a step that nothing was executed of has. */
export function compilerOnly(report) {
  const step = report.steps[0];
  return {
    ...report,
    simulator: null,
    steps: [
      {
        ...step,
        rung: 'compiler',
        origin: 'compiler',
        reason: 'libtpu gave no listings',
        hint: 'libtpu 0.0.52 has them',
        error: null,
        causes: {},
        bundles: 0,
        transfers: [],
        units: [],
        memories: [],
        roofline: [],
        findings: [],
        kernels: [],
        timeline: [],
        ops: step.ops.map((op) => ({...op, origin: 'compiler', causes: {}, issued: {}, kernel_id: null})),
      },
    ],
  };
}

export const evil = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">';

/** Every text of a report is hostile. */
export function hostile(value) {
  if (typeof value === 'string') return `${value}${evil}`;
  if (Array.isArray(value)) return value.map(hostile);
  if (value && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [
        key,
        ['schema', 'rung', 'memory', 'what', 'bound', 'name', 'unit'].includes(key) && key !== 'name'
          ? entry
          : hostile(entry),
      ]),
    );
  return value;
}

/** The least that the schema allows, with nulls wherever it allows them. */
export function bare() {
  return {
    schema: 'sublane.explain/2',
    version: '0',
    subject: '',
    detail: null,
    chip: 'v5e',
    devices: 1,
    compiler: null,
    simulator: null,
    model_hash: null,
    clock_hz: 0,
    flags: [],
    assumptions: [],
    redacted: true,
    limits: [],
    steps: [
      {
        name: 'empty',
        bucket: null,
        fingerprint: null,
        rung: 'roofline',
        origin: 'datasheet',
        reason: null,
        hint: null,
        total_us: 0,
        error: null,
        cycles: 0,
        launch_us: 0,
        causes: {},
        bundles: 0,
        transfers: [],
        hbm_read_bytes: null,
        hbm_write_bytes: null,
        compiler_us: null,
        memory: null,
        units: [],
        memories: [],
        roofline: [],
        findings: [],
        ops: [],
        kernels: [],
        buffers: [],
        schedule: [],
        timeline: [],
      },
    ],
    diff: null,
  };
}
