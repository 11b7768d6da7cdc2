// Variants of a report that a page must live with.
import {add, clock} from './sample_ops.mjs';

const side = (us) => ({us, origin: 'simulated', count: 0, hbm_bytes: 0, causes_us: {}, ops: []});

function grow(line, op, factor) {
  for (const [key, scale] of Object.entries({before: factor, after: 1})) {
    line[key].us += op.us * scale;
    line[key].count += op.count;
    line[key].hbm_bytes += Math.round(op.hbm_bytes * scale);
    const causes = Object.entries(op.causes).map(([cause, cycles]) => [cause, (cycles * scale * 1e6) / clock]);
    add(line[key].causes_us, Object.fromEntries(causes));
    if (line[key].ops.length < 5) line[key].ops.push(op.op);
  }
  line.change_us = line.after.us - line.before.us;
}

/** The diff of a report, as sublane.diff/1, against one whose cache was copied three times. */
export function withDiff(report) {
  const [step] = report.steps;
  const lines = new Map();
  const line = (place, kind) => ({place, kind, change_us: 0, before: side(0), after: side(0), parts: []});
  for (const op of step.ops) {
    const place = op.part ?? '';
    if (!lines.has(place))
      lines.set(place, {
        ...line(place, op.kind),
        layers: '0-3',
        error: {us: 1, origin: 'measured', class: 'GEMM', covered_share: 1},
        resolvable: true,
      });
    const whole = lines.get(place);
    let part = whole.parts.find((entry) => entry.kind === op.kind);
    if (!part) whole.parts.push((part = line(place, op.kind)));
    const factor = op.kind === 'copy' ? 3 : op.part === 'mlp.up' ? 0.9 : 1;
    grow(whole, op, factor);
    grow(part, op, factor);
  }
  const list = [...lines.values()];
  const before_us = list.reduce((sum, entry) => sum + entry.before.us, 0) + step.launch_us;
  const error = (us) => ({us, origin: 'measured', changed_us: 200, class: 'GEMM', covered_share: 0.9});
  const stepOf = (name, before, after, rest) => ({
    name,
    change_us: after - before,
    before: side(before),
    after: side(after),
    ...rest,
  });
  const settings = {flags: {before: '', after: '--xla_tpu_scoped_vmem_limit_kib=65536'}};
  return {
    ...report,
    diff: {
      schema: 'sublane.diff/1',
      before: 'llama-3-8b at 1a2b3c',
      after: 'llama-3-8b at 4d5e6f',
      settings,
      steps: [
        stepOf(step.name, before_us, step.total_us, {lines: list, error: error(9), resolvable: true}),
        stepOf('prefill', 100, 101, {lines: [], error: error(5), resolvable: false}),
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
        limits: [],
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
    focus: null,
    hbm_bytes_per_second: null,
    bf16_flops_per_second: null,
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
        limits: [],
        findings: [],
        ops: [],
        kernels: [],
        buffers: [],
        schedule: [],
        timeline: [],
      },
    ],
  };
}
