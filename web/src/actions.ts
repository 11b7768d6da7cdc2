// What a click or a key does to the store.
import {getState, update, type Selection, type State, type TabId} from './store';
import type {StepModel} from './model';
import type {Node} from './tree';
import type {Finding} from './schema';

function opened(node: Node | null): ReadonlySet<string> {
  const open = new Set(getState().open);
  for (let at = node?.parent ?? null; at; at = at.parent) open.add(at.id);
  return open;
}

export function path(node: Node): string {
  const names: string[] = [];
  for (let at: Node | null = node; at && at.parent; at = at.parent) names.unshift(at.label);
  return names.join(' / ') || node.label;
}

export function selectNode(node: Node, change: Partial<State> = {}): void {
  const selection: Selection = {
    title: path(node),
    rows: node.rows,
    node: node.id,
    kernel: node.kernel ?? null,
    loop: node.loop ?? null,
    bundle: node.bundle ?? null,
  };
  update({selection, open: opened(node), only_selected: false, ...change});
}

export function selectRow(model: StepModel, row: number, change: Partial<State> = {}): void {
  const node = model.tree.opNode(row);
  if (node) selectNode(node, change);
}

export function selectRows(title: string, rows: number[], change: Partial<State> = {}): void {
  update({
    selection: {title, rows, node: null, kernel: null, loop: null, bundle: null},
    only_selected: false,
    ...change,
  });
}

/** The rows of a finding, in the table of operations. */
export function selectFinding(model: StepModel, finding: Finding, tab: TabId = 'ops'): void {
  const rows = finding.rows.length ? finding.rows : finding.ops.flatMap((op) => model.rowsOfOp.get(op) ?? []);
  const title = `finding ${finding.rule}`;
  const change = {tab, only_selected: tab === 'ops' || tab === 'transfers'};
  if (rows.length === 1) {
    selectRow(model, rows[0]!, change);
    update({selection: {...getState().selection!, title}});
  } else {
    selectRows(title, rows, change);
  }
}

export function toggleOpen(node: Node, on?: boolean): void {
  const open = new Set(getState().open);
  if (on ?? !open.has(node.id)) open.add(node.id);
  else open.delete(node.id);
  update({open});
}
