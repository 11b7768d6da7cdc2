// Reports to test the page with: made up, but of the shape, the sizes and the exact sums of real ones.
import {add, clock, kernelsOf, opsOf, randomOf, slots} from './sample_ops.mjs';

function transfersOf(ops) {
  return ops
    .filter((op) => op.hbm_bytes > 1e5)
    .map((op, index) => {
      const waited = (op.causes.dma ?? 0) + (op.causes.dma_latency ?? 0) + (op.causes.dma_both ?? 0);
      return {
        row: op.id,
        kernel: op.kernel_id,
        bundle: index % 40,
        from: index % 7 === 3 ? 'vmem' : 'hbm',
        to: index % 7 === 3 ? 'hbm' : 'vmem',
        count: 1 + (index % 4),
        bytes: op.hbm_bytes,
        pieces: 1 + (index % 5) * 16,
        flight_cycles: Math.max(waited, Math.round(op.hbm_bytes / 776) + 546),
        waited_cycles: waited,
        remote: index % 23 === 0,
      };
    });
}

function buffersOf(ops, random) {
  const last = ops.length - 1;
  const buffers = [
    {
      op: 'param.cache',
      shape: 'bf16[512,16,2,8,128]{4,3,2,1,0:T(8,128)(2,1)}',
      memory: 'hbm',
      what: 'state',
      bytes: 402653184,
      data_bytes: 402653184,
      first: 0,
      last,
    },
    {
      op: 'param.weights',
      shape: 'bf16[4096,14336]{1,0:T(8,128)(2,1)}',
      memory: 'hbm',
      what: 'argument',
      bytes: 1610612736,
      data_bytes: 1610612736,
      first: 0,
      last,
    },
    {
      op: 'param.scales',
      shape: 'f32[4096,1]{1,0:T(8,128)}',
      memory: 'hbm',
      what: 'argument',
      bytes: 2097152,
      data_bytes: 16384,
      first: 0,
      last,
    },
    {
      op: 'constant.3',
      shape: 's32[128]{0:T(128)}',
      memory: 'hbm',
      what: 'constant',
      bytes: 512,
      data_bytes: 512,
      first: 0,
      last,
    },
  ];
  for (const op of ops) {
    const size = 4096 * (1 + Math.floor(random() * 512));
    if (op.kind !== 'start, end')
      buffers.push({
        op: op.op,
        shape: op.shape,
        memory: op.id % 5 === 4 ? 'hbm' : 'vmem',
        what: op.id > last - 4 ? 'result' : 'temporary',
        bytes: size,
        data_bytes: op.id % 3 ? size : Math.round(size / 8),
        first: op.id,
        last: Math.min(last, op.id + 1 + Math.floor(random() * 12)),
      });
  }
  return buffers;
}

function findingsOf(ops) {
  const by = (test) => ops.filter(test);
  const us = (list) => list.reduce((sum, op) => sum + op.us, 0);
  const copies = by((op) => op.kind === 'copy');
  const kernels = by((op) => op.kind === 'kernel');
  const cards = [
    [
      'whole-copies',
      `copies of whole buffers take ${us(copies).toFixed(0)} us: the cache is copied once a layer`,
      'donate the cache and update it in place: jax.jit(step, donate_argnums=(1,))',
      copies,
      0.97,
      'simulated',
      [
        `${copies.length} copies, each of a whole argument that is donated elsewhere`,
        'no operation reads the old value afterwards',
      ],
    ],
    [
      'mxu-idle',
      'the MXU is nearly idle in ragged_attention: 4 % of its slots, while XLU and VALU work waits for results',
      'raise the block from 128x128 to 512x512 so that latencies overlap',
      kernels,
      0.6,
      'assumed',
      ['dependency:mxu 31 % and dependency:xlu 24 % of its cycles', 'loop 2 has 4,096 iterations of 41 bundles'],
    ],
    [
      'row-by-row',
      'rows of the cache are written one by one: 1,024 transfers of 256 B',
      'write whole pages',
      by((op) => op.kind === 'scatter'),
      0.8,
      'simulated',
      ['256 B a piece; 2,048 B would reach 90 % of the rate'],
    ],
  ];
  return cards
    .filter(([, , , list]) => list.length)
    .map(([rule, what, cure, list, part, gain_origin, evidence]) => ({
      rule,
      what,
      cure,
      ops: list.map((op) => op.op),
      sources: [...new Set(list.map((op) => op.source))].slice(0, 4),
      rows: list.map((op) => op.id),
      us: us(list),
      gain_us: us(list) * part,
      gain_origin,
      edit: rule === 'whole-copies' ? 'donate argument 1 to output 1' : null,
      evidence,
    }));
}

function limitsOf(bytes, flops, total_us) {
  const limit = (name, unit, amount, per_second, limit_origin) => {
    const us = (amount / per_second) * 1e6;
    return {limit: name, amount, unit, origin: 'simulated', per_second, limit_origin, us, share: us / total_us};
  };
  return [
    limit('hbm', 'B', bytes, 1.64e12, 'datasheet'),
    limit('mxu', 'FLOP', flops, 9.18e14, 'datasheet'),
    limit('vmem', 'B', bytes * 6, 3.584e13, 'compiler'),
  ];
}

function stepOf(name, options) {
  const random = randomOf(options.seed);
  const ops = opsOf(options, random);
  const kernels = kernelsOf(ops, options, random);
  const cycles = ops.reduce((sum, op) => sum + op.cycles, 0);
  const causes = {};
  const issued = {};
  for (const op of ops) {
    add(causes, op.causes);
    add(issued, op.issued);
  }
  const launch_us = 3.5;
  const total_us = ops.reduce((sum, op) => sum + op.us, 0) + launch_us;
  for (const op of ops) op.share = op.us / total_us;
  const read = ops.reduce((sum, op) => sum + op.hbm_read_bytes, 0);
  const written = ops.reduce((sum, op) => sum + op.hbm_write_bytes, 0);
  const matmul = ops.reduce((sum, op) => sum + op.matmul_flops, 0);
  let at = 0;
  const timeline = ops.map((op) => {
    const begin = at;
    at += op.cycles;
    return [op.kind === 'start, end' ? -1 : op.id, begin, at];
  });
  return {
    name,
    bucket: '8 sequences, a token each, context 1024',
    fingerprint: '23db32c13dce57ee',
    rung: 'bundles',
    origin: 'simulated',
    reason: null,
    hint: null,
    total_us,
    error: {relative: 0.12, class: 'matmul', points: 63, covered_share: 0.81},
    cycles,
    launch_us,
    causes,
    bundles: kernels.reduce((sum, kernel) => sum + kernel.bundles.reduce((all, bundle) => all + bundle[0], 0), 0),
    hbm_read_bytes: read,
    hbm_write_bytes: written,
    compiler_us: {value: total_us * 0.71, origin: 'compiler'},
    memory: {
      origin: 'compiler',
      used_bytes: 2.4e9,
      usable_bytes: 3.3e10,
      hbm_bytes: 3.435973837e10,
      arguments: 2.0e9,
      argument_data: 1.98e9,
      outputs: 4.1e8,
      aliased: 4.0e8,
      temporaries: 4.2e8,
      code: 2.5e7,
      donated_state: 402653184,
    },
    units: Object.entries(slots).map(([unit, slot]) => ({
      unit,
      issued: issued[unit] ?? 0,
      slots: slot,
      share: (issued[unit] ?? 0) / (slot * cycles),
      origin: 'simulated',
      slots_origin: 'compiler',
    })),
    limits: limitsOf(read + written, matmul, total_us),
    roofline: {origin: 'datasheet', hbm_us: (read + written) / 1.64e6, mxu_us: matmul / 9.18e8},
    notes: ['6 operations were executed for values that scalars depend on'],
    findings: findingsOf(ops),
    ops,
    kernels,
    transfer_count: transfersOf(ops).reduce((sum, transfer) => sum + transfer.count, 0),
    transfers: transfersOf(ops),
    buffers: buffersOf(ops, random),
    schedule: ops.map((op) => op.op),
    timeline,
  };
}

export const sizes = {
  small: {layers: 4, small: 1, kernels: 24, bundles_each: 60, seed: 1},
  middle: {layers: 30, small: 4, kernels: 200, bundles_each: 100, seed: 2},
  large: {layers: 32, small: 6, kernels: 250, bundles_each: 400, seed: 3}, // 100,000 bundles and some
};

export function sampleReport(options, steps = ['decode', 'prefill']) {
  return {
    schema: 'sublane.explain/2',
    subject: 'llama-3-8b',
    detail: 'llama, 32 layers unrolled, bf16 weights and cache, greedy sampling',
    chip: 'v6e',
    devices: 1,
    compiler: 'libtpu 0.0.52',
    simulator: 'sublane.simulator/2',
    model_hash: 'e1ff8a8d200523c9',
    clock_hz: clock,
    flags: ['--xla_tpu_scoped_vmem_limit_kib=65536'],
    assumptions: [
      'every sequence has the whole context; its pages lie one after another',
      'the clock is derived from the peak rates',
    ],
    focus: null,
    hbm_bytes_per_second: {value: 1.64e12, origin: 'datasheet'},
    bf16_flops_per_second: {value: 9.18e14, origin: 'datasheet'},
    steps: steps.map((name, index) => stepOf(name, {...options, seed: options.seed + index})),
  };
}
