// Before and after: a waterfall from one total to the other, and every line that changed.
import {scaleLinear} from 'd3-scale';
import {useMemo, useState} from 'preact/hooks';
import {selectRows} from '../actions';
import {CauseBar} from '../parts/cause_bar';
import {Table, type Column} from '../parts/table';
import {Tag} from '../parts/tag';
import {bytes, int, percent, signed, us} from '../format';
import type {StepModel} from '../model';
import type {Counts, Diff, DiffLine, DiffStep} from '../schema';

const bars = 12;

const change = (line: DiffLine) => line.after_us - line.before_us;
const delta = (value: number) => signed(us(value), value);
const named = (line: DiffLine) => `${line.place || 'not placed'} ${line.kind}`;
const cyclesOf = (causes: Counts | null) => Object.values(causes ?? {}).reduce((sum, count) => sum + count, 0);

interface Stair {
  label: string;
  from: number;
  to: number;
  kind: 'total' | 'gain' | 'loss';
  line: DiffLine | null;
}

/** The largest changes one after another; the smaller ones are one stair, so that the last one ends at the total. */
function stairsOf(step: DiffStep): Stair[] {
  const lines = [...step.lines].sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)));
  const stairs: Stair[] = [{label: 'before', from: 0, to: step.before_us, kind: 'total', line: null}];
  let at = step.before_us;
  for (const line of lines.slice(0, bars)) {
    if (change(line) === 0) continue;
    stairs.push({label: named(line), from: at, to: at + change(line), kind: change(line) < 0 ? 'gain' : 'loss', line});
    at += change(line);
  }
  if (Math.abs(step.after_us - at) > 1e-6 * Math.max(1, step.after_us))
    stairs.push({
      label: 'all other changes',
      from: at,
      to: step.after_us,
      kind: step.after_us < at ? 'gain' : 'loss',
      line: null,
    });
  stairs.push({label: 'after', from: 0, to: step.after_us, kind: 'total', line: null});
  return stairs;
}

function Waterfall({step, choose}: {step: DiffStep; choose: (line: DiffLine) => void}) {
  const stairs = stairsOf(step);
  const values = stairs.filter((stair) => stair.kind !== 'total').flatMap((stair) => [stair.from, stair.to]);
  const high = Math.max(step.before_us, step.after_us, ...values);
  // A cut axis is said beside the bars: small changes of a large total would not be seen otherwise.
  const lowest = Math.min(step.before_us, step.after_us, ...values);
  const start = (high - lowest) * 6 < high ? Math.max(0, lowest - (high - lowest)) : 0;
  const scale = scaleLinear()
    .domain([start, high || 1])
    .range([0, 100]);
  return (
    <div
      class="waterfall"
      id="waterfall"
      role="img"
      aria-label={`from ${us(step.before_us)} us to ${us(step.after_us)} us; the table below holds every line`}
    >
      {stairs.map((stair, index) => {
        const [low, top] =
          stair.kind === 'total' ? [start, stair.to] : [Math.min(stair.from, stair.to), Math.max(stair.from, stair.to)];
        return (
          <div key={index} class={`stair ${stair.kind}`} onClick={() => stair.line && choose(stair.line)}>
            <span class="clip" title={stair.label}>
              {stair.label}
            </span>
            <span class="track">
              <span style={{left: `${scale(low)}%`, width: `${Math.max(0.25, scale(top) - scale(low))}%`}} />
            </span>
            <span class="num">{stair.kind === 'total' ? us(stair.to) : delta(stair.to - stair.from)}</span>
          </div>
        );
      })}
      {start > 0 && <p class="dim">The axis begins at {us(start)} us.</p>}
    </div>
  );
}

function columnsOf(): Column<DiffLine>[] {
  const total = (rows: DiffLine[], value: (line: DiffLine) => number) =>
    rows.reduce((sum, line) => sum + value(line), 0);
  const causes = (key: string, label: string, value: (line: DiffLine) => Counts | null): Column<DiffLine> => ({
    key,
    label,
    width: '96px',
    value: (line) => cyclesOf(value(line)),
    show: (line) => <CauseBar causes={value(line) ?? {}} cycles={cyclesOf(value(line))} />,
  });
  return [
    {
      key: 'place',
      label: 'place',
      width: 'minmax(130px,1.2fr)',
      value: (line) => line.place || 'not placed',
      total: () => 'total of these rows',
    },
    {key: 'kind', label: 'kind', width: '90px', value: (line) => line.kind},
    {
      key: 'before',
      label: 'before us',
      width: '104px',
      num: true,
      origin: 'row',
      value: (line) => line.before_us,
      show: (line) => us(line.before_us),
      total: (rows) => us(total(rows, (line) => line.before_us)),
    },
    {
      key: 'after',
      label: 'after us',
      width: '98px',
      num: true,
      origin: 'row',
      value: (line) => line.after_us,
      show: (line) => us(line.after_us),
      total: (rows) => us(total(rows, (line) => line.after_us)),
    },
    {
      key: 'change',
      label: 'change us',
      width: '88px',
      num: true,
      value: (line) => change(line),
      show: (line) => <b class={change(line) < 0 ? 'less' : change(line) > 0 ? 'more' : ''}>{delta(change(line))}</b>,
      total: (rows) => delta(total(rows, change)),
    },
    {
      key: 'size',
      label: '|change|',
      width: '74px',
      num: true,
      value: (line) => Math.abs(change(line)),
      show: (line) => us(Math.abs(change(line))),
    },
    {
      key: 'relative',
      label: '%',
      width: '66px',
      num: true,
      value: (line) => (line.before_us > 0 ? change(line) / line.before_us : null),
      show: (line) =>
        line.before_us > 0 ? signed(percent(change(line) / line.before_us).replace(' %', ''), change(line)) : 'new',
    },
    {
      key: 'bytes',
      label: 'HBM before',
      width: '112px',
      num: true,
      origin: 'counted',
      value: (line) => line.before_bytes,
      show: (line) => bytes(line.before_bytes),
    },
    {
      key: 'bytes_after',
      label: 'after',
      width: '82px',
      num: true,
      origin: 'counted',
      value: (line) => line.after_bytes,
      show: (line) => bytes(line.after_bytes),
    },
    causes('causes', 'causes before', (line) => line.causes_before),
    causes('causes_after', 'after', (line) => line.causes_after),
    {key: 'ops', label: 'ops before', width: 'minmax(100px,1fr)', value: (line) => (line.ops_before ?? []).join(' ')},
    {
      key: 'ops_after',
      label: 'ops after',
      width: 'minmax(100px,1fr)',
      value: (line) => (line.ops_after ?? []).join(' '),
    },
  ];
}

function Verdict({step}: {step: DiffStep}) {
  const difference = step.after_us - step.before_us;
  const relative = step.before_us > 0 ? difference / step.before_us : null;
  return (
    <p
      class={`diff-total${step.resolvable ? '' : ' unresolved'}`}
      id="diff-total"
      data-before={step.before_us}
      data-after={step.after_us}
    >
      <span class="mono">
        {us(step.before_us)} {'\u2192'} {us(step.after_us)} us
      </span>{' '}
      <b class="mono">
        {delta(difference)} us{relative !== null && ` (${signed(percent(relative), relative)})`}
      </b>{' '}
      {step.resolvable ? (
        <span class="dim">
          {step.resolution
            ? `above the paired error of ${percent(step.resolution)}`
            : 'the paired error of this class is not known'}
        </span>
      ) : (
        <strong>
          not resolvable: below the paired error{step.resolution ? ` of ${percent(step.resolution)}` : ''}
        </strong>
      )}
    </p>
  );
}

export function DiffTab({model, diff}: {model: StepModel; diff: Diff | null}) {
  const steps = diff?.steps ?? [];
  const same = steps.findIndex((step) => step.name === model.step.name);
  const [chosen, setChosen] = useState<number | null>(null);
  const step = steps[chosen ?? Math.max(0, same)];
  const columns = useMemo(columnsOf, []);
  if (!diff || !step)
    return <p class="empty">This report is of one program. A diff is made by: sublane diff A B --format html</p>;
  const choose = (line: DiffLine) => {
    const rows = [...(line.ops_after ?? []), ...(line.ops_before ?? [])].flatMap((op) => model.rowsOfOp.get(op) ?? []);
    selectRows(`changed: ${named(line)}`, [...new Set(rows)]);
  };
  return (
    <div class="stack diff">
      <div class="diff-head">
        <p>
          <b>before</b> <span class="mono">{diff.before}</span> <b>after</b> <span class="mono">{diff.after}</span>
          {steps.length > 1 && (
            <select
              aria-label="step of the diff"
              value={String(steps.indexOf(step))}
              onChange={(event) => setChosen(Number(event.currentTarget.value))}
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
        {(diff.settings ?? []).length > 0 && (
          <table class="plain">
            <thead>
              <tr>
                <th>setting</th>
                <th>before</th>
                <th>after</th>
              </tr>
            </thead>
            <tbody>
              {diff.settings.map((setting) => (
                <tr key={setting.name}>
                  <td>{setting.name}</td>
                  <td class="mono wrap">{setting.before ?? '-'}</td>
                  <td class="mono wrap">{setting.after ?? '-'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <section class="diff-waterfall">
        <h2>
          From before to after, us <Tag origin={model.step.origin} />{' '}
          <span class="dim">{int(step.lines.length)} lines</span>
        </h2>
        <Waterfall step={step} choose={choose} />
      </section>
      <Table
        id="diff"
        label="changed lines"
        columns={columns}
        rows={step.lines}
        sort={['size', 'down']}
        rowKey={(line) => `${line.place} ${line.kind}`}
        text={(line) =>
          `${line.place} ${line.kind} ${(line.ops_before ?? []).join(' ')} ${(line.ops_after ?? []).join(' ')}`
        }
        empty="Nothing changed."
        onSelect={choose}
      />
    </div>
  );
}
