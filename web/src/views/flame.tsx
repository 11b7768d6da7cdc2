// The tree as a flame graph: width is time, depth is the tree's, the strip under each name its causes. It descends only
// into what is wide enough to see, so the size of the data does not matter.
import {useMemo, useRef} from 'preact/hooks';
import {path, selectNode} from '../actions';
import {groupCycles, groupText, mainGroup} from '../causes';
import {Canvas, fitText, type Painter} from '../parts/canvas';
import {Legend} from '../parts/cause_bar';
import {Tag} from '../parts/tag';
import {hideTip, showTip} from '../parts/tooltip';
import {int, percent, us} from '../format';
import {update, type State} from '../store';
import type {StepModel} from '../model';
import type {Node} from '../tree';
import {Timeline} from './timeline';

interface Cell {
  node: Node;
  x: number;
  width: number;
  level: number;
}

const levelHeight = 25;
const strip = 7;
const leastWidth = 0.5;
const leastToOpen = 30; // kernels and loops: their children are made when they can be seen

/** Widths of the children add up to no more than the parent's: a kernel that several ops share is drawn to the op's scale. */
function cellsOf(root: Node, width: number): {cells: Cell[]; levels: number} {
  const cells: Cell[] = [];
  let levels = 1;
  const ancestors: Node[] = [];
  for (let at = root.parent; at; at = at.parent) ancestors.unshift(at);
  ancestors.forEach((node, level) => cells.push({node, x: 0, width, level}));
  const stack: Cell[] = [{node: root, x: 0, width, level: ancestors.length}];
  while (stack.length) {
    const cell = stack.pop()!;
    cells.push(cell);
    levels = Math.max(levels, cell.level + 1);
    const {node} = cell;
    const deep = node.kind === 'op' || node.kind === 'kernel' || node.kind === 'loop';
    if (!node.has_children || (deep && cell.width < leastToOpen)) continue;
    const children = node.children();
    const weight = (child: Node) => (deep ? child.cycles : child.us);
    const sum = children.reduce((total, child) => total + weight(child), 0);
    const all = Math.max(sum, deep ? (node.kind === 'op' ? sum : node.cycles) : node.us);
    if (all <= 0) continue;
    let x = cell.x;
    for (const child of children) {
      const childWidth = (weight(child) / all) * cell.width;
      if (childWidth >= leastWidth) stack.push({node: child, x, width: childWidth, level: cell.level + 1});
      x += childWidth;
    }
  }
  return {cells, levels};
}

/** Of "layer 12" and "fusion.12" what fits into a narrow cell. */
const shortLabel = (node: Node) =>
  node.kind === 'layer' || node.kind === 'op' ? (/\d+$/.exec(node.label)?.[0] ?? '') : '';

function drawCell(painter: Painter, cell: Cell, selected: boolean, hit: boolean): void {
  const {context, ink} = painter;
  const {node, level} = cell;
  const x = cell.x;
  const y = level * levelHeight;
  const gap = cell.width > 3 ? 1 : 0;
  const width = Math.max(0.5, cell.width - gap);
  const group = mainGroup(node.causes, node.cycles);
  context.globalAlpha = 0.2;
  context.fillStyle = painter.fill(group);
  context.fillRect(x, y, width, levelHeight - strip - 1);
  context.globalAlpha = 1;
  let at = x;
  const parts = groupCycles(node.causes, node.cycles);
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  for (const [part, count] of parts) {
    const partWidth = (count / total) * width;
    context.fillStyle = painter.fill(part);
    context.fillRect(at, y + levelHeight - strip - 1, partWidth, strip);
    at += partWidth;
  }
  const label =
    fitText(context, cell.width > 60 ? `${group} ${node.label}` : node.label, width - 6) ||
    fitText(context, shortLabel(node), width - 3);
  if (label) {
    context.fillStyle = ink.text;
    context.fillText(label, x + 3, y + 12.5);
  }
  if (selected || hit) {
    context.strokeStyle = ink.mark;
    context.lineWidth = selected ? 2 : 1.5;
    context.strokeRect(x + 1, y + 1, Math.max(1, width - 2), levelHeight - 3);
  }
}

function tip(model: StepModel, cell: Cell): string[] {
  const {node} = cell;
  const group = mainGroup(node.causes, node.cycles);
  const lines = [
    path(node),
    `${us(node.us)} us, ${percent(model.step.total_us > 0 ? node.us / model.step.total_us : null)} of the step, ${int(node.cycles)} cycles`,
  ];
  if (node.note) lines.push(node.note.slice(0, 160));
  if (node.cycles > 0) lines.push(`most: ${group} ${groupText[group].long}`);
  return lines;
}

export function FlameGraph({model, state}: {model: StepModel; state: State}) {
  const root = model.tree.byId(state.flame_root) ?? model.tree.root;
  const cells = useRef<Cell[]>([]);
  const width = useRef(800);
  // The height follows from what a page as wide as the last one shows.
  const levels = useMemo(() => cellsOf(root, width.current).levels, [root, model]);
  const chosen = state.selection?.node ?? null;
  const hits = useMemo(
    () => new Set(state.selection && !state.selection.node ? state.selection.rows : []),
    [state.selection],
  );
  const at = (x: number, y: number) =>
    cells.current.findLast(
      (cell) => cell.level === Math.floor(y / levelHeight) && x >= cell.x && x < cell.x + Math.max(1, cell.width),
    );
  const draw = (painter: Painter) => {
    width.current = painter.width;
    cells.current = cellsOf(root, painter.width).cells;
    painter.context.font = `11px ${painter.font}`;
    for (const cell of cells.current)
      drawCell(painter, cell, cell.node.id === chosen, cell.node.kind === 'op' && hits.has(cell.node.rows[0]!));
  };
  return (
    <section class="flame-box">
      <h2>
        Flame graph <Tag origin={model.step.origin} />{' '}
        <span class="dim">width is time; click selects, double click makes it the root</span>
        {root !== model.tree.root && (
          <button
            type="button"
            class="link"
            id="flame-up"
            onClick={() => update({flame_root: root.parent?.id ?? 'step'})}
          >
            up
          </button>
        )}
        {root !== model.tree.root && (
          <button type="button" class="link" onClick={() => update({flame_root: 'step'})}>
            whole step
          </button>
        )}
      </h2>
      <div class="canvas-box">
        <Canvas
          id="flame"
          height={Math.max(levels, 4) * levelHeight}
          label={`flame graph of ${path(root)}, ${us(root.us)} us; the model tree beside it holds the same`}
          draw={draw}
          deps={[root, model, chosen, hits]}
          onPoint={(x, y, event) => {
            const cell = at(x, y);
            if (cell) showTip(event.clientX, event.clientY, tip(model, cell));
            else hideTip();
          }}
          onLeave={hideTip}
          onClick={(x, y) => {
            const cell = at(x, y);
            if (cell) selectNode(cell.node);
          }}
          onDouble={(x, y) => {
            const cell = at(x, y);
            if (cell) {
              hideTip();
              update({flame_root: cell.node.id === root.id ? (root.parent?.id ?? 'step') : cell.node.id});
            }
          }}
        />
      </div>
    </section>
  );
}

export function FlameTab({model, state}: {model: StepModel; state: State}) {
  return (
    <div class="page-scroll">
      <Legend />
      <FlameGraph model={model} state={state} />
      <Timeline model={model} state={state} />
    </div>
  );
}
