// The page: header, model tree, one tab, what is selected; and the keys that work everywhere.
import {useEffect, useMemo} from 'preact/hooks';
import {modelOf, type StepModel} from './model';
import {chooseStep, getState, update, useStore, type State} from './store';
import {tabs} from './tabs';
import type {Report} from './schema';
import {About} from './views/about';
import {Bundles} from './views/bundles';
import {DiffTab} from './views/diff';
import {Findings} from './views/findings';
import {FlameTab} from './views/flame';
import {Header} from './views/header';
import {Help} from './views/help';
import {Inspector} from './views/inspector';
import {Layouts} from './views/layouts';
import {Limits} from './views/limits';
import {MemoryTab} from './views/memory';
import {Ops} from './views/ops';
import {Search} from './views/search';
import {Transfers} from './views/transfers';
import {TreeView} from './views/tree';

const nextTheme = {auto: 'dark', dark: 'light', light: 'auto'} as const;

function Tab({model, state}: {model: StepModel; state: State}) {
  switch (state.tab) {
    case 'findings':
      return <Findings model={model} />;
    case 'flame':
      return <FlameTab model={model} state={state} />;
    case 'ops':
      return <Ops model={model} state={state} />;
    case 'limits':
      return <Limits model={model} state={state} />;
    case 'memory':
      return <MemoryTab model={model} state={state} />;
    case 'transfers':
      return <Transfers model={model} state={state} />;
    case 'layouts':
      return <Layouts model={model} />;
    case 'bundles':
      return <Bundles model={model} state={state} />;
    case 'diff':
      return <DiffTab model={model} diff={model.report.diff ?? null} />;
    case 'about':
      return <About model={model} />;
  }
}

function escape(): void {
  const state = getState();
  if (state.overlay !== 'none') update({overlay: 'none'});
  else if (state.selection) update({selection: null, only_selected: false});
}

const typing = (target: EventTarget | null) =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;

function pageKey(report: Report, event: KeyboardEvent): void {
  if (event.key === 'Escape') {
    if (typing(event.target)) (event.target as HTMLElement).blur();
    escape();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || getState().overlay !== 'none') return;
  const state = getState();
  const tab = /^[0-9]$/.test(event.key) ? tabs[(Number(event.key) + 9) % 10] : undefined;
  if (tab) update({tab: tab.id});
  else if (event.key === '/') update({overlay: 'search'});
  else if (event.key === '?') update({overlay: 'help'});
  else if (event.key === 't') update({theme: nextTheme[state.theme]});
  else if (event.key === 'm') document.getElementById('tree')?.focus();
  else if (event.key === '[') update({panes: {...state.panes, tree: !state.panes.tree}});
  else if (event.key === ']') update({panes: {...state.panes, inspector: !state.panes.inspector}});
  else if (event.key === 's' && report.steps.length > 1) chooseStep((state.step + 1) % report.steps.length);
  else return;
  event.preventDefault();
}

function TabList({state, hasDiff}: {state: State; hasDiff: boolean}) {
  const move = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!by) return;
    const at = tabs.findIndex((tab) => tab.id === state.tab);
    const next = tabs[(at + by + tabs.length) % tabs.length]!;
    update({tab: next.id});
    document.getElementById(`tab-${next.id}`)?.focus();
    event.preventDefault();
  };
  return (
    <div class="tabs" role="tablist" aria-label="views" onKeyDown={move}>
      {tabs.map((tab, index) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          id={`tab-${tab.id}`}
          aria-selected={state.tab === tab.id}
          aria-controls="panel"
          tabIndex={state.tab === tab.id ? 0 : -1}
          class={tab.id === 'diff' && !hasDiff ? 'dim' : ''}
          onClick={() => update({tab: tab.id})}
        >
          <kbd>{(index + 1) % 10}</kbd> {tab.label}
        </button>
      ))}
    </div>
  );
}

/** The chosen theme, or the system's, as an attribute that the colours hang on. */
function useScheme(theme: State['theme']): void {
  const query = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), []);
  const apply = () => {
    document.documentElement.dataset['scheme'] = theme === 'auto' ? (query.matches ? 'dark' : 'light') : theme;
  };
  apply();
  useEffect(() => {
    const changed = () => {
      apply();
      update({});
    };
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, [theme]);
}

export function App({report}: {report: Report}) {
  const state = useStore();
  useScheme(state.theme);
  const models = useMemo(() => new Map<number, StepModel>(), [report]);
  if (!models.has(state.step)) models.set(state.step, modelOf(report, state.step));
  const model = models.get(state.step)!;
  useEffect(() => {
    const listener = (event: KeyboardEvent) => pageKey(report, event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, [report]);
  const {tree, inspector} = state.panes;
  return (
    <div class="app">
      <Header model={model} state={state} />
      <TabList state={state} hasDiff={!!report.diff} />
      <div class={`panes${tree ? '' : ' no-tree'}${inspector ? '' : ' no-inspector'}`}>
        {tree && <TreeView key={`tree${state.step}`} model={model} state={state} />}
        <main>
          <div
            id="panel"
            class="stack"
            role="tabpanel"
            aria-labelledby={`tab-${state.tab}`}
            key={`${state.tab}${state.step}`}
          >
            <Tab model={model} state={state} />
          </div>
        </main>
        {inspector && <Inspector model={model} state={state} />}
      </div>
      {state.overlay === 'help' && <Help />}
      {state.overlay === 'search' && <Search model={model} />}
    </div>
  );
}
