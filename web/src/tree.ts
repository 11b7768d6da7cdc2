// The model tree: step, layer, part, operation, kernel, loop, bundle. Children are made when somebody looks.
import {addCounts} from './causes';
import type {Bundle, Counts, Kernel, Op, Report, Step} from './schema';

export type NodeKind = 'step' | 'layer' | 'part' | 'op' | 'launch' | 'kernel' | 'loop' | 'bundle';

export interface Node {
  id: string;
  kind: NodeKind;
  label: string;
  note: string;
  parent: Node | null;
  depth: number;
  rows: number[]; // operations below it, or the one it is in
  cycles: number;
  us: number;
  causes: Counts;
  issued: Counts;
  kernel?: number;
  loop?: number;
  bundle?: number;
  has_children: boolean;
  children(): Node[];
}

export interface Tree {
  root: Node;
  byId(id: string): Node | null;
  opNode(row: number): Node | null;
}

interface Source {
  step: Step;
  report: Report;
  ops: Map<number, Op>;
  kernels: Map<number, Kernel>;
}

type Draft = Omit<Node, 'children' | 'depth' | 'has_children'> & {make?: (node: Node) => Node[]; has?: boolean};

function node(draft: Draft): Node {
  let made: Node[] | null = null;
  const {make, has, ...rest} = draft;
  const self: Node = {
    ...rest,
    depth: draft.parent ? draft.parent.depth + 1 : 0,
    has_children: has ?? !!make,
    children: () => (made ??= make ? make(self) : []),
  };
  return self;
}

export function layerName(layer: Op['layer']): string {
  return layer === null || layer === undefined ? 'no layer' : layer === '*' ? 'every layer (loop)' : `layer ${layer}`;
}

function sums(ops: Op[]): Pick<Node, 'cycles' | 'us' | 'causes' | 'issued' | 'rows'> {
  const causes: Counts = {};
  const issued: Counts = {};
  let cycles = 0;
  let us = 0;
  for (const op of ops) {
    cycles += op.cycles;
    us += op.us;
    addCounts(causes, op.causes);
    addCounts(issued, op.issued);
  }
  return {cycles, us, causes, issued, rows: ops.map((op) => op.id)};
}

function grouped<K>(ops: Op[], key: (op: Op) => K): Map<K, Op[]> {
  const map = new Map<K, Op[]>();
  for (const op of ops) {
    const list = map.get(key(op));
    if (list) list.push(op);
    else map.set(key(op), [op]);
  }
  return map;
}

export function buildTree(source: Source): Tree {
  const {step, report} = source;
  const total = sums(step.ops);
  const root = node({
    id: 'step',
    kind: 'step',
    label: step.name || report.subject || 'step',
    note: report.subject,
    parent: null,
    ...total,
    us: step.total_us,
    cycles: step.cycles,
    causes: Object.keys(step.causes).length ? step.causes : total.causes,
    make: (self) => layers(source, self),
    has: step.ops.length > 0 || step.launch_us > 0,
  });
  const find = finder(root);
  const opNode = (row: number) => {
    const op = source.ops.get(row);
    return op ? find(`op:${row}`, opPath(op)) : null;
  };
  return {root, opNode, byId: (id) => byId(root, id, find, source)};
}

const layerId = (op: Op) => `layer:${op.layer ?? ''}`;
const partId = (op: Op) => `${layerId(op)}/${op.part ?? ''}`;
const opPath = (op: Op) => [layerId(op), partId(op)];

function finder(root: Node) {
  return (id: string, path: string[]): Node | null => {
    let at: Node | undefined = root;
    for (const next of [...path, id]) {
      at = at?.children().find((child) => child.id === next);
      if (!at) return null;
    }
    return at;
  };
}

/** A node by its id, wherever it is; the path to it follows from the id. */
function byId(root: Node, id: string, find: ReturnType<typeof finder>, source: Source): Node | null {
  if (id === 'step') return root;
  if (id === 'launch' || (id.startsWith('layer:') && !id.includes('/'))) return find(id, []);
  if (id.startsWith('layer:')) return find(id, [id.slice(0, id.indexOf('/'))]);
  const row = Number(/^op:(-?\d+)/.exec(id)?.[1]);
  const op = source.ops.get(row);
  if (!op) return null;
  const opNode = find(`op:${row}`, opPath(op));
  return opNode && within(opNode, id);
}

function within(from: Node, id: string): Node | null {
  if (from.id === id) return from;
  const bundle = from.kind === 'loop' || from.kind === 'kernel' ? Number(/\/b(\d+)$/.exec(id)?.[1]) : NaN;
  for (const child of from.children()) {
    if (child.id === id) return child;
    if (child.kind === 'bundle' || (child.kind === 'loop' && bundle >= 0 && !covers(child, bundle))) continue;
    const found = within(child, id);
    if (found) return found;
  }
  return null;
}

const ranges = new WeakMap<Node, [number, number]>();
const covers = (loop: Node, bundle: number) => {
  const range = ranges.get(loop);
  return !range || (range[0] <= bundle && bundle <= range[1]);
};

function layers(source: Source, parent: Node): Node[] {
  const list = [...grouped(source.step.ops, layerId)].map(([id, ops]) =>
    node({
      id,
      kind: 'layer',
      label: layerName(ops[0]!.layer),
      note: '',
      parent,
      ...sums(ops),
      make: (self) => parts(source, self, ops),
    }),
  );
  if (source.step.launch_us > 0) {
    list.push(
      node({
        id: 'launch',
        kind: 'launch',
        label: 'launch',
        note: 'start and end of the program',
        parent,
        rows: [],
        cycles: 0,
        us: source.step.launch_us,
        causes: {},
        issued: {},
      }),
    );
  }
  return list;
}

function parts(source: Source, parent: Node, ops: Op[]): Node[] {
  return [...grouped(ops, partId)].map(([id, list]) =>
    node({
      id,
      kind: 'part',
      label: list[0]!.part ?? 'not placed',
      note: '',
      parent,
      ...sums(list),
      make: (self) => list.map((op) => opOf(source, self, op)),
    }),
  );
}

function opOf(source: Source, parent: Node, op: Op): Node {
  const kernel = op.kernel_id === null || op.kernel_id === undefined ? undefined : source.kernels.get(op.kernel_id);
  return node({
    id: `op:${op.id}`,
    kind: 'op',
    label: op.op,
    note: op.kind,
    parent,
    rows: [op.id],
    cycles: op.cycles,
    us: op.us,
    causes: op.causes,
    issued: op.issued,
    kernel: kernel?.id,
    make: kernel ? (self) => [kernelOf(source, self, kernel, op)] : undefined,
  });
}

function kernelOf(source: Source, parent: Node, kernel: Kernel, op: Op): Node {
  const shared = kernel.rows.length > 1 ? `of ${kernel.rows.length} ops together` : '';
  return node({
    id: `op:${op.id}/k`,
    kind: 'kernel',
    label: kernel.name || 'kernel',
    note: shared,
    parent,
    rows: [op.id],
    cycles: kernel.cycles,
    us: cyclesToUs(source, kernel.cycles),
    causes: kernel.causes,
    issued: kernel.issued,
    kernel: kernel.id,
    has: kernel.loops.length > 0 || !!kernel.bundles?.length,
    make: (self) => inside(source, self, kernel, -1),
  });
}

const cyclesToUs = (source: Source, cycles: number) =>
  source.report.clock_hz ? (cycles / source.report.clock_hz) * 1e6 : 0;

/** What stands directly in a loop (or, at -1, in the kernel), in the order of the bundles. */
function inside(source: Source, parent: Node, kernel: Kernel, loop: number): Node[] {
  const inner = kernel.loops
    .map((entry, index) => ({entry, index}))
    .filter(({entry}) => (entry.parent ?? -1) === loop)
    .sort((a, b) => a.entry.first - b.entry.first);
  const bundles = kernel.bundles ?? [];
  const range = loop < 0 ? {first: 0, last: bundles.length - 1} : kernel.loops[loop]!;
  const list: Node[] = [];
  let next = 0;
  for (let i = range.first; i <= Math.min(range.last, bundles.length - 1); ++i) {
    const child = inner[next];
    if (child && child.entry.first <= i) {
      list.push(loopOf(source, parent, kernel, child.index));
      i = Math.max(i, child.entry.last);
      next += 1;
    } else {
      list.push(bundleOf(source, parent, kernel, i));
    }
  }
  for (; next < inner.length; ++next) list.push(loopOf(source, parent, kernel, inner[next]!.index));
  return list;
}

function loopOf(source: Source, parent: Node, kernel: Kernel, index: number): Node {
  const loop = kernel.loops[index]!;
  const made = node({
    id: `${base(parent)}/l${index}`,
    kind: 'loop',
    label: `loop ${index}: bundles ${loop.first}-${loop.last}`,
    note: `${loop.iterations.toLocaleString('en-US')} iterations`,
    parent,
    rows: parent.rows,
    cycles: loop.cycles,
    us: cyclesToUs(source, loop.cycles),
    causes: loop.causes,
    issued: loop.issued,
    kernel: kernel.id,
    loop: index,
    has: true,
    make: (self) => inside(source, self, kernel, index),
  });
  ranges.set(made, [loop.first, loop.last]);
  return made;
}

const base = (parent: Node) => parent.id.replace(/\/[kl]\d*$/, '');

/** A bundle says its own cause; what it waited, for transfers and flags, comes beside that. */
export const bundleCauses = ([runs, waited, cause]: Bundle): Counts => ({
  ...(cause && runs > 0 ? {[cause]: runs} : {}),
  ...(waited > 0 ? {waited} : {}),
});

export const bundleCycles = (bundle: Bundle): number => bundle[0] + bundle[1];

function bundleOf(source: Source, parent: Node, kernel: Kernel, index: number): Node {
  const bundle = kernel.bundles![index]!;
  const cycles = bundleCycles(bundle);
  return node({
    id: `${base(parent)}/b${index}`,
    kind: 'bundle',
    label: `${index}`,
    note: bundle[4],
    parent,
    rows: parent.rows,
    cycles,
    us: cyclesToUs(source, cycles),
    causes: bundleCauses(bundle),
    issued: {},
    kernel: kernel.id,
    bundle: index,
  });
}
