// What the reader has chosen. One store; the part that is worth a link is kept in the address's fragment.
import {useEffect, useState} from 'preact/hooks';

export type TabId =
  'findings' | 'flame' | 'ops' | 'limits' | 'memory' | 'transfers' | 'layouts' | 'bundles' | 'diff' | 'about';

export interface Selection {
  title: string; // "finding whole-copies", "layer 3 / attention"
  rows: number[];
  node: string | null; // id in the tree, where it is one node
  kernel: number | null;
  loop: number | null;
  bundle: number | null;
}

export interface State {
  step: number;
  tab: TabId;
  selection: Selection | null;
  only_selected: boolean; // tables show what is selected
  open: ReadonlySet<string>;
  zoom: [number, number] | null; // cycles
  flame_root: string;
  cursor: number; // position in the schedule
  theme: 'auto' | 'light' | 'dark';
  overlay: 'none' | 'help' | 'search';
  panes: {tree: boolean; inspector: boolean};
}

const initial: State = {
  step: 0,
  tab: 'findings',
  selection: null,
  only_selected: false,
  open: new Set(['step']),
  zoom: null,
  flame_root: 'step',
  cursor: 0,
  theme: 'auto',
  overlay: 'none',
  panes: {tree: true, inspector: true},
};

let state = initial;
const listeners = new Set<() => void>();

export const getState = (): State => state;

export function update(change: Partial<State>): void {
  state = {...state, ...change};
  writeFragment();
  for (const listener of [...listeners]) listener();
}

export function useStore(): State {
  const [, force] = useState(0);
  useEffect(() => {
    const listener = () => force((n) => n + 1);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return state;
}

/** Another step: what was chosen in the one before means nothing there. */
export function chooseStep(step: number): void {
  update({
    step,
    selection: null,
    only_selected: false,
    open: new Set(['step']),
    zoom: null,
    flame_root: 'step',
    cursor: 0,
  });
}

function writeFragment(): void {
  const parts = new URLSearchParams({tab: state.tab});
  if (state.step) parts.set('step', String(state.step));
  if (state.selection?.node) parts.set('at', state.selection.node);
  const text = `#${parts.toString()}`;
  if (text === location.hash) return;
  try {
    history.replaceState(null, '', text);
  } catch {
    /* a sandboxed frame has no history */
  }
}

export function readFragment(): {tab?: string; step?: number; at?: string} {
  const parts = new URLSearchParams(location.hash.slice(1));
  return {tab: parts.get('tab') ?? undefined, step: Number(parts.get('step') ?? 0), at: parts.get('at') ?? undefined};
}
