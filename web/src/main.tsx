// Unpacks the data, restores what the address names, and draws.
import {render} from 'preact';
import {selectNode} from './actions';
import {App} from './app';
import {modelOf} from './model';
import {readFragment, update} from './store';
import {tabs} from './tabs';
import {unpack} from './unpack';
import type {Report} from './schema';

function restore(report: Report): void {
  const {tab, step = 0, at} = readFragment();
  const known = tabs.find((entry) => entry.id === tab);
  const first = report.diff ? 'diff' : 'findings';
  update({tab: known?.id ?? first, step: step >= 0 && step < report.steps.length ? step : 0});
  const node = at && report.steps[step] ? modelOf(report, step).tree.byId(at) : null;
  if (node) selectNode(node);
}

function fail(page: HTMLElement, what: string): void {
  const line = document.createElement('p');
  line.className = 'boot error';
  line.textContent = `This report cannot be shown: ${what}`;
  page.replaceChildren(line);
}

async function start(): Promise<void> {
  const page = document.getElementById('page')!;
  try {
    const report = await unpack(document.getElementById('data')!.textContent ?? '');
    document.getElementById('data')!.remove();
    document.title = `${report.subject} ${report.chip} - sublane explain`;
    if (!report.steps.length) {
      fail(page, 'it holds no step');
      return;
    }
    restore(report);
    render(<App report={report} />, page);
    document.documentElement.dataset['ready'] = String(Math.round(performance.now()));
  } catch (error) {
    fail(page, error instanceof Error ? error.message : String(error));
  }
}

void start();
