// Search over findings, parts, operations, kernels and sources. Words in any order; results by kind, dearest first.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {selectFinding, selectNode, selectRow, selectRows} from '../actions';
import {us} from '../format';
import {update} from '../store';
import {layerName, type Node} from '../tree';
import type {StepModel} from '../model';

interface Entry {
  kind: string;
  name: string;
  text: string;
  note: string;
  key: string;
  weight: number;
  go: () => void;
}

function partEntries(model: StepModel): Entry[] {
  const entries: Entry[] = [];
  const add = (kind: string, node: Node, text: string) =>
    entries.push({
      kind,
      name: node.label,
      text,
      note: `${us(node.us)} us`,
      key: node.id,
      weight: node.us,
      go: () => selectNode(node),
    });
  for (const layer of model.tree.root.children()) {
    add('layer', layer, layer.label);
    for (const part of layer.children()) add('part', part, `${layer.label} / ${part.label}`);
  }
  return entries;
}

function entriesOf(model: StepModel): Entry[] {
  const {step} = model;
  const entries: Entry[] = step.findings.map((finding, index) => ({
    kind: 'finding',
    name: finding.rule,
    text: `${finding.rule}: ${finding.what}`,
    note: `${us(finding.us)} us`,
    key: `f${index}`,
    weight: 1e15 - index,
    go: () => selectFinding(model, finding),
  }));
  entries.push(...partEntries(model));
  const sources = new Map<string, number[]>();
  for (const op of step.ops) {
    entries.push({
      kind: 'op',
      name: op.op,
      text: `${op.op} ${op.kind}`,
      note: `${layerName(op.layer)} / ${op.part ?? '-'}, ${us(op.us)} us`,
      key: `o${op.id}`,
      weight: op.us,
      go: () => selectRow(model, op.id),
    });
    if (op.source) sources.set(op.source, [...(sources.get(op.source) ?? []), op.id]);
  }
  for (const kernel of step.kernels) {
    entries.push({
      kind: 'kernel',
      name: kernel.name,
      text: `${kernel.name} ${kernel.source ?? ''}`,
      note: `${kernel.rows.length} ops`,
      key: `k${kernel.id}`,
      weight: kernel.cycles,
      go: () => {
        const node = kernel.rows.length ? model.tree.byId(`op:${kernel.rows[0]}/k`) : null;
        if (node) selectNode(node, {tab: 'bundles'});
        else
          update({
            tab: 'bundles',
            selection: {title: kernel.name, rows: kernel.rows, node: null, kernel: kernel.id, loop: null, bundle: null},
          });
      },
    });
  }
  for (const [source, rows] of sources)
    entries.push({
      kind: 'source',
      name: source,
      text: source,
      note: `${rows.length} ops`,
      key: `s${source}`,
      weight: rows.length,
      go: () =>
        rows.length === 1 ? selectRow(model, rows[0]!) : selectRows(source, rows, {tab: 'ops', only_selected: true}),
    });
  return entries;
}

const order = ['finding', 'layer', 'part', 'kernel', 'op', 'source'];
const most = 200;

export function Search({model}: {model: StepModel}) {
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const entries = useMemo(
    () => entriesOf(model).map((entry) => ({...entry, lower: `${entry.kind} ${entry.text}`.toLowerCase()})),
    [model],
  );
  useLayoutEffect(() => input.current?.focus(), []);
  const found = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    // A name that is typed in full comes first, whatever its kind.
    const exact = (entry: Entry) => Number(words.includes(entry.name.toLowerCase()));
    return entries
      .filter((entry) => words.every((word) => entry.lower.includes(word)))
      .sort((a, b) => exact(b) - exact(a) || order.indexOf(a.kind) - order.indexOf(b.kind) || b.weight - a.weight);
  }, [entries, query]);
  const shown = found.slice(0, most);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({block: 'nearest'});
  }, [at]);
  const go = (entry: Entry | undefined) => {
    if (entry) {
      update({overlay: 'none'});
      entry.go();
    }
  };
  const keys = (event: KeyboardEvent) => {
    const next: Record<string, number> = {ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10};
    const to = next[event.key];
    if (to !== undefined) setAt(Math.max(0, Math.min(shown.length - 1, to)));
    else if (event.key === 'Enter') go(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <div
      class="overlay"
      role="dialog"
      aria-modal="true"
      aria-label="search"
      onClick={(event) => {
        if (event.target === event.currentTarget) update({overlay: 'none'});
      }}
    >
      <div class="sheet search">
        <input
          ref={input}
          type="text"
          id="search"
          role="combobox"
          aria-expanded={true}
          aria-autocomplete="list"
          aria-controls="results"
          aria-label="search"
          aria-activedescendant={shown.length ? `s-${at}` : undefined}
          placeholder="operation, part, kernel, finding, source"
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={keys}
        />
        <ul id="results" role="listbox" ref={list} aria-label="results">
          {shown.map((entry, index) => (
            <li key={entry.key} id={`s-${index}`} role="option" aria-selected={index === at} onClick={() => go(entry)}>
              <span class="kind">{entry.kind}</span>
              <span class="clip">{entry.text}</span>
              <span class="dim">{entry.note}</span>
            </li>
          ))}
        </ul>
        <p class="dim">
          {found.length > most ? `first ${most} of ${found.length}` : `${found.length} found`} - arrow keys, Enter,
          Escape
        </p>
      </div>
    </div>
  );
}
