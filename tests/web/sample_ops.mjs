// Operations and kernels of a made-up step, with the exact sums of real ones. The same seed gives the same bytes.

/** mulberry32: small and good enough for test data. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const slots = {scalar: 2, valu: 4, vld: 3, vst: 2, eup: 1, xlu: 2, mxu: 2};
export const clock = 1.75e9;
export const usOf = (cycles) => (cycles / clock) * 1e6;
const parts = [
  ['attention.norm', 'reduce', 0.3],
  ['attention.qkv', 'matmul', 2.2],
  ['attention.rotary', 'elementwise', 0.5],
  ['attention.cache', 'scatter', 1.6],
  ['attention.core', 'kernel', 6],
  ['attention.out', 'matmul', 1.1],
  ['mlp.norm', 'reduce', 0.3],
  ['mlp.up', 'matmul', 4.4],
  ['mlp.down', 'matmul', 2.6],
];
/** Shares of cycles by cause, for each kind of operation. */
const mixes = {
  matmul: {
    'issue:mxu': 4,
    'issue:vld': 2,
    'issue:valu': 1,
    'dependency:mxu': 1.2,
    dma: 4,
    dma_latency: 0.4,
    overlapped: 0.3,
  },
  kernel: {
    'issue:mxu': 1,
    'issue:valu': 3,
    'issue:xlu': 2,
    'issue:eup': 0.5,
    'dependency:mxu': 4,
    'dependency:xlu': 3,
    dma_latency: 1,
    branch: 0.3,
    spill: 0.7,
  },
  reduce: {'issue:valu': 3, 'issue:xlu': 2, 'dependency:xlu': 3, dma_latency: 1, 'issue:scalar': 0.5},
  elementwise: {'issue:valu': 4, 'issue:vst': 2, 'issue:vld': 2, dma: 2, branch: 0.4},
  scatter: {'issue:scalar': 4, 'dependency:scalar': 2, dma_latency: 4, branch: 1, dma_both: 1},
  copy: {dma: 6, dma_latency: 1, 'issue:scalar': 1, dma_either: 0.5},
  prefetch: {'issue:scalar': 2, 'issue:other': 1},
};

function split(total, mix, random) {
  const weights = Object.entries(mix).map(([key, weight]) => [key, weight * (0.5 + random())]);
  const sum = weights.reduce((all, [, weight]) => all + weight, 0);
  const counts = {};
  let left = total;
  weights.forEach(([key, weight], index) => {
    const count = index === weights.length - 1 ? left : Math.min(left, Math.round((total * weight) / sum));
    if (count > 0) counts[key] = count;
    left -= count;
  });
  return counts;
}

function issuedOf(causes, random) {
  const issued = {};
  for (const [unit, slot] of Object.entries(slots)) {
    const cycles = causes[`issue:${unit}`] ?? 0;
    issued[unit] = Math.round(cycles * slot * (0.5 + 0.5 * random()));
  }
  return issued;
}

export const add = (into, from) => {
  for (const [key, count] of Object.entries(from)) into[key] = (into[key] ?? 0) + count;
};

const mnemonics = [
  'vld [vmem:[s28 + $0x10e10] sm:$0xf]',
  'vmatpush2.bf16.msra.mxu1 v7',
  'vmatprep.subr.bf16.mxu0 v12',
  'vcombine.low v4, v5',
  'vadd.f32 v3, v9',
  'vmul.f32 v11, v2',
  'vst [vmem:[s14 + $0x38] sm:$0xff] v31',
  'sadd.s32 s21, 1',
  'vpop.f32.mrf.mxu0',
  'vrot.slane v8, 4',
  'vsel vm1, v3, v4',
  'dma.done.wait s6, 2048',
  'vmax.xlane.f32.xlu0 v22',
  'vpow2.f32 v17',
  'vpack.c.bf16 v3, v2',
  'sbr.rel target = 418',
];

function bundleText(random) {
  const count = Math.floor(random() * 5);
  const list = [];
  for (let i = 0; i < count; ++i)
    list.push(
      `v${Math.floor(random() * 64)} = ${mnemonics[Math.floor(random() * mnemonics.length)]}`.replace(
        '$0x10e10',
        `$0x${Math.floor(random() * 65536).toString(16)}`,
      ),
    );
  return list.join(' ;; ');
}

function loopsOf(count, cycles, causes, random) {
  if (count < 24) return [];
  const inner = [Math.floor(count * 0.35), Math.floor(count * 0.7)];
  const at = (part) =>
    Object.fromEntries(
      Object.entries(causes)
        .map(([key, value]) => [key, Math.floor(value * part)])
        .filter(([, value]) => value),
    );
  const made = (parent, first, last, iterations, part) => {
    const own = at(part);
    return {
      parent,
      first,
      last,
      iterations,
      cycles: Object.values(own).reduce((a, b) => a + b, 0),
      causes: own,
      issued: issuedOf(own, random),
    };
  };
  return [
    made(null, Math.floor(count * 0.1), Math.floor(count * 0.9), 64, 0.92),
    made(0, inner[0], inner[1], 512, 0.7),
    made(1, inner[0] + 3, inner[1] - 3, 4096, 0.5),
  ];
}

function kernelOf(id, op, bundles, random) {
  const loops = loopsOf(bundles, op.cycles, op.causes, random);
  const causes = Object.keys(op.causes);
  const list = [];
  for (let i = 0; i < bundles; ++i) {
    let loop = -1;
    loops.forEach((entry, index) => {
      if (entry.first <= i && i <= entry.last) loop = index;
    });
    const runs = loop < 0 ? 1 : loops[loop].iterations;
    list.push([
      runs,
      random() < 0.04 ? Math.floor(random() * 900) : 0,
      causes[Math.floor(random() * causes.length)] ?? 'issue:other',
      loop,
      bundleText(random),
    ]);
  }
  return {
    id,
    name: op.op,
    rows: [op.id],
    cycles: op.cycles,
    causes: op.causes,
    issued: op.issued,
    vmem_bytes: 1 << 20,
    spill_bytes: op.causes.spill ? 65536 : 0,
    source: op.source,
    loops,
    bundles: list,
  };
}

export function opsOf(options, random) {
  const ops = [];
  const push = (layer, part, kind, weight, extra = {}) => {
    const cycles = Math.max(8, Math.round(weight * 9000 * (0.7 + 0.6 * random())));
    const causes = split(cycles, mixes[kind] ?? mixes.copy, random);
    const matmul = kind === 'matmul' || kind === 'kernel';
    const bytes =
      kind === 'reduce' ? 65536 : Math.round(cycles * (kind === 'kernel' ? 120 : 640) * (0.5 + 0.5 * random()));
    const flops =
      kind === 'prefetch' || kind === 'copy'
        ? 0
        : matmul
          ? Math.round(cycles * 30000 * random())
          : Math.round(cycles * 60);
    const hbm = (bytes / 1.64e12) * 1e6;
    const mxu = (flops / 9.18e14) * 1e6;
    const id = ops.length;
    ops.push({
      id,
      layer,
      part,
      kind,
      op: `${kind === 'prefetch' ? 'copy-start' : kind === 'kernel' ? 'custom-call' : kind === 'copy' ? 'copy' : 'fusion'}.${id}`,
      kernel: kind === 'kernel' ? 'ragged_attention' : null,
      kernel_id: null,
      count: 1,
      cycles,
      us: usOf(cycles),
      error: kind === 'matmul' ? 0.12 : null,
      class: kind === 'matmul' ? 'matmul' : null,
      origin: 'simulated',
      hbm_bytes: bytes,
      hbm_read_bytes: Math.round(bytes * 0.9),
      hbm_write_bytes: bytes - Math.round(bytes * 0.9),
      flops: kind === 'kernel' && random() < 0.3 ? null : flops,
      matmul_flops: matmul ? flops : 0,
      bound: hbm > mxu ? 'hbm' : 'mxu',
      hbm_us: hbm,
      mxu_us: mxu,
      share: 0,
      memory: kind === 'prefetch' ? 'HBM -> VMEM' : 'HBM VMEM -> VMEM',
      shape: matmul ? 'bf16[8,4096]{1,0:T(8,128)(2,1)S(1)}' : 'f32[8,1,4096]{2,1,0:T(1,128)}',
      source: `llama.py:${40 + (ops.length % 9) * 7}`,
      causes,
      issued: issuedOf(causes, random),
      flags: kind === 'copy' ? ['whole-state'] : [],
      ...extra,
    });
  };
  push(null, 'embed', 'scatter', 1);
  for (let layer = 0; layer < options.layers; ++layer) {
    for (const [part, kind, weight] of parts) {
      push(layer, part, 'prefetch', 0.004);
      if (part === 'attention.cache') push(layer, part, 'copy', 3);
      push(layer, part, kind, weight);
      for (let i = 0; i < options.small; ++i) push(layer, part, 'elementwise', 0.06);
    }
  }
  push(null, 'final_norm', 'reduce', 0.4);
  push(null, 'head', 'matmul', 14);
  push(null, 'sample', 'reduce', 1);
  const causes = {launch: 12000, dma_latency: 300};
  ops.push({
    ...ops[0],
    id: ops.length,
    layer: null,
    part: null,
    kind: 'start, end',
    op: '(outside of operations)',
    kernel: null,
    count: 0,
    cycles: 12300,
    us: usOf(12300),
    hbm_bytes: 256,
    hbm_read_bytes: 256,
    hbm_write_bytes: 0,
    flops: 0,
    matmul_flops: 0,
    bound: 'hbm',
    causes,
    issued: {},
    source: null,
    shape: null,
    memory: null,
    flags: [],
  });
  return ops;
}

export function kernelsOf(ops, options, random) {
  const users = ops
    .filter((op) => op.kind !== 'prefetch' && op.kind !== 'start, end')
    .sort((a, b) => b.cycles - a.cycles)
    .slice(0, options.kernels);
  const kernels = users.map((op, id) => {
    op.kernel_id = id;
    return kernelOf(id, op, options.bundles_each, random);
  });
  // One kernel that all prefetches run in, as the program's own thread is.
  const rest = ops.filter((op) => op.kernel_id === null);
  const causes = {};
  const issued = {};
  for (const op of rest) {
    add(causes, op.causes);
    add(issued, op.issued);
    op.kernel_id = kernels.length;
  }
  const cycles = rest.reduce((sum, op) => sum + op.cycles, 0);
  const own = kernelOf(kernels.length, {op: 'TLP', id: 0, cycles, causes, issued, source: null}, 60, random);
  kernels.push({...own, rows: rest.map((op) => op.id)});
  return kernels;
}
