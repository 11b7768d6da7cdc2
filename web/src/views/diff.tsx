// Before and after: totals, a waterfall from one to the other, and every line that changed.
import {useMemo, useState} from 'preact/hooks';
import {selectRows} from '../actions';
import {CauseBar} from '../parts/cause_bar';
import {Table, type Column} from '../parts/table';
import {Tag} from '../parts/tag';
import {bytes, int, percent, signed, us} from '../format';
import type {StepModel} from '../model';
import type {Diff, DiffLine, DiffSide, DiffStep} from '../schema';
import {delta, named, Waterfall} from './waterfall';

const sum = (rows: DiffLine[], value: (line: DiffLine) => number) =>
  rows.reduce((total, line) => total + value(line), 0);
const causesTotal = (side: DiffSide) => Object.values(side.causes_us ?? {}).reduce((total, value) => total + value, 0);
const resolved = (value: boolean | null | undefined) =>
  value === null || value === undefined ? '?' : value ? 'yes' : 'no';

function sideColumns(key: 'before' | 'after'): Column<DiffLine>[] {
  return [
    {
      key,
      label: `${key} us`,
      width: '92px',
      num: true,
      value: (line) => line[key].us,
      show: (line) => us(line[key].us),
      total: (rows) => us(sum(rows, (line) => line[key].us)),
    },
  ];
}

function moreColumns(key: 'before' | 'after'): Column<DiffLine>[] {
  return [
    {
      key: `${key}_causes`,
      label: `causes ${key}`,
      width: '100px',
      value: (line) => causesTotal(line[key]),
      show: (line) => <CauseBar causes={line[key].causes_us ?? {}} cycles={causesTotal(line[key])} />,
    },
    {
      key: `${key}_bytes`,
      label: `HBM ${key}`,
      width: '108px',
      num: true,
      origin: 'counted',
      value: (line) => line[key].hbm_bytes,
      show: (line) => bytes(line[key].hbm_bytes),
      total: (rows) => bytes(sum(rows, (line) => line[key].hbm_bytes)),
    },
    {
      key: `${key}_count`,
      label: `runs ${key}`,
      width: '80px',
      num: true,
      value: (line) => line[key].count,
      show: (line) => int(line[key].count),
    },
    {
      key: `${key}_ops`,
      label: `ops ${key}`,
      width: 'minmax(110px,1fr)',
      value: (line) => (line[key].ops ?? []).join(' '),
    },
  ];
}

function columnsOf(): Column<DiffLine>[] {
  const relative = (line: DiffLine) => (line.before.us > 0 ? line.change_us / line.before.us : null);
  return [
    {
      key: 'place',
      label: 'place',
      width: 'minmax(130px,1.2fr)',
      value: (line) => line.place || 'not placed',
      total: () => 'total of these rows',
    },
    {key: 'kind', label: 'kind', width: '88px', value: (line) => line.kind},
    {key: 'layers', label: 'layers', width: '54px', value: (line) => line.layers ?? ''},
    ...sideColumns('before'),
    ...sideColumns('after'),
    {
      key: 'change',
      label: 'change us',
      width: '84px',
      num: true,
      title: 'sorted by its size',
      value: (line) => Math.abs(line.change_us),
      show: (line) => (
        <b class={line.change_us < 0 ? 'less' : line.change_us > 0 ? 'more' : ''}>{delta(line.change_us)}</b>
      ),
      total: (rows) => delta(sum(rows, (line) => line.change_us)),
    },
    {
      key: 'relative',
      label: '%',
      width: '62px',
      num: true,
      value: relative,
      show: (line) => {
        const value = relative(line);
        return value === null ? (line.after.us > 0 ? 'new' : '-') : signed(percent(value).replace(' %', ''), value);
      },
    },
    {
      key: 'resolvable',
      label: 'resolvable',
      width: '68px',
      value: (line) => resolved(line.resolvable),
      title: 'yes: more than the paired error of its class; ?: no error is known',
      show: (line) => (
        <span title={line.error?.us == null ? 'no error is known' : `error ${us(line.error.us)} us`}>
          {resolved(line.resolvable)}
        </span>
      ),
    },
    ...moreColumns('before'),
    ...moreColumns('after'),
  ];
}

function Verdict({step}: {step: DiffStep}) {
  const change = step.change_us;
  const relative = step.before.us > 0 ? change / step.before.us : null;
  const {error} = step;
  const limit = error && error.us !== null ? `${us(error.us)} us${error.class ? `, ${error.class}` : ''}` : null;
  return (
    <p
      class={`diff-total${step.resolvable === false ? ' unresolved' : ''}`}
      id="diff-total"
      data-before={step.before.us}
      data-after={step.after.us}
    >
      <span class="mono">
        {us(step.before.us)} <Tag origin={step.before.origin} /> {'\u2192'} {us(step.after.us)} us{' '}
        <Tag origin={step.after.origin} />
      </span>{' '}
      <b class="mono">
        {delta(change)} us{relative !== null && ` (${signed(percent(relative), relative)})`}
      </b>{' '}
      {step.resolvable === false ? (
        <strong>not resolvable: {limit ? `below the paired error of ${limit}` : 'the origins differ'}</strong>
      ) : (
        <span class="dim">{limit ? `above the paired error of ${limit}` : 'no paired error is known'}</span>
      )}{' '}
      {limit && <Tag origin={error!.origin} />}
    </p>
  );
}

function Settings({diff}: {diff: Diff}) {
  const rows = Object.entries(diff.settings ?? {});
  if (!rows.length) return null;
  return (
    <table class="plain">
      <thead>
        <tr>
          <th>setting</th>
          <th>before</th>
          <th>after</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, setting]) => (
          <tr key={name}>
            <td>{name}</td>
            <td class="mono wrap">{setting.before || '-'}</td>
            <td class="mono wrap">{setting.after || '-'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface HeadProps {
  diff: Diff;
  step: DiffStep;
  choose: (index: number) => void;
}

function Head({diff, step, choose}: HeadProps) {
  const {steps} = diff;
  return (
    <div class="diff-head">
      <p>
        <b>before</b> <span class="mono">{diff.before}</span> <b>after</b> <span class="mono">{diff.after}</span>{' '}
        {steps.length > 1 && (
          <select
            aria-label="step of the diff"
            value={String(steps.indexOf(step))}
            onChange={(event) => choose(Number(event.currentTarget.value))}
          >
            {steps.map((entry, index) => (
              <option key={index} value={String(index)}>
                {entry.name}
              </option>
            ))}
          </select>
        )}
      </p>
      <Verdict step={step} />
      <Settings diff={diff} />
    </div>
  );
}

export function DiffTab({model, diff}: {model: StepModel; diff: Diff | null}) {
  const steps = diff?.steps ?? [];
  const same = steps.findIndex((step) => step.name === model.step.name);
  const [chosen, setChosen] = useState<number | null>(null);
  const [split, setSplit] = useState(false);
  const step = steps[chosen ?? Math.max(0, same)];
  const columns = useMemo(columnsOf, []);
  const lines = useMemo(
    () => (step?.lines ?? []).flatMap((line) => (split && line.parts?.length ? line.parts : [line])),
    [step, split],
  );
  if (!diff || !step)
    return <p class="empty">This report is of one program. A diff is made by: sublane diff A B --format html</p>;
  const choose = (line: DiffLine) => {
    const rows = [...line.after.ops, ...line.before.ops].flatMap((op) => model.rowsOfOp.get(op) ?? []);
    selectRows(`changed: ${named(line)}`, [...new Set(rows)]);
  };
  return (
    <div class="stack diff">
      <Head diff={diff} step={step} choose={setChosen} />
      <section class="diff-waterfall">
        <h2>
          From before to after, us <Tag origin={step.after.origin} />{' '}
          <span class="dim">{int(step.lines.length)} lines</span>
        </h2>
        <Waterfall step={step} choose={choose} />
      </section>
      <Table
        id="diff"
        label="changed lines"
        columns={columns}
        rows={lines}
        sort={['change', 'down']}
        rowKey={(line) => `${line.place} ${line.kind} ${line.layers ?? ''}`}
        text={(line) => `${line.place} ${line.kind} ${line.before.ops.join(' ')} ${line.after.ops.join(' ')}`}
        empty="Nothing changed."
        onSelect={choose}
        tools={
          <button type="button" class="filter" aria-pressed={split} onClick={() => setSplit(!split)}>
            {split ? 'by place and kind' : 'by place'}
          </button>
        }
      />
    </div>
  );
}
