// First of all: what makes the step slow, what cures it, and what that is worth. Then where its cycles go.
import {selectFinding, selectNode, selectRow, selectRows} from '../actions';
import {Tag} from '../parts/tag';
import {int, percent, us} from '../format';
import {update} from '../store';
import type {StepModel} from '../model';
import type {Finding} from '../schema';
import {ByPart, WhereCyclesGo} from './overview';
import {SpeedOfLight} from './speed_of_light';

function rowsWithSource(model: StepModel, source: string): number[] {
  return model.step.ops.filter((op) => op.source === source).map((op) => op.id);
}

function Card({model, finding, number}: {model: StepModel; finding: Finding; number: number}) {
  const {step} = model;
  const names = finding.ops.slice(0, 12);
  const share = (value: number | null) =>
    value === null || step.total_us <= 0 ? '' : ` (${percent(value / step.total_us)})`;
  return (
    <article class="card" data-rule={finding.rule} aria-label={`finding ${finding.rule}`}>
      <div class="card-head">
        <span class="card-number">{number}</span>
        <h3>{finding.rule}</h3>
        <span class="card-figure">
          <span class="dim">takes</span> {us(finding.us)} us{share(finding.us)} <Tag origin={step.origin} />
        </span>
        <span class="card-figure gain">
          <span class="dim">gain</span>{' '}
          {finding.gain_us === null || finding.gain_us === undefined
            ? 'not known'
            : `${us(finding.gain_us)} us${share(finding.gain_us)}`}{' '}
          <Tag origin={finding.gain_origin} />
        </span>
        <button type="button" class="do" onClick={() => selectFinding(model, finding)}>
          select {int(finding.rows.length || finding.ops.length)} ops
        </button>
        <button type="button" onClick={() => selectFinding(model, finding, 'flame')}>
          in flame
        </button>
      </div>
      <p class="what">{finding.what}</p>
      {finding.cure && (
        <p class="cure">
          <b>Cure</b> {finding.cure}
        </p>
      )}
      {finding.edit && (
        <p class="cure">
          <b>Edit</b> <code>{finding.edit}</code>
        </p>
      )}
      {finding.evidence.length > 0 && (
        <ul class="evidence">
          {finding.evidence.map((line, index) => (
            <li key={index}>{line}</li>
          ))}
        </ul>
      )}
      <p class="links">
        {names.map((name) => {
          const rows = model.rowsOfOp.get(name) ?? [];
          return rows.length ? (
            <button
              key={name}
              type="button"
              class="link mono"
              onClick={() =>
                rows.length === 1
                  ? selectRow(model, rows[0]!, {tab: 'ops', only_selected: true})
                  : selectRows(name, rows, {tab: 'ops', only_selected: true})
              }
            >
              {name}
            </button>
          ) : (
            <code key={name}>{name}</code>
          );
        })}
        {finding.ops.length > names.length && (
          <span class="dim">and {int(finding.ops.length - names.length)} more</span>
        )}
        {finding.sources.map((source) => (
          <button
            key={source}
            type="button"
            class="link mono source"
            title="operations of this source line"
            onClick={() => selectRows(source, rowsWithSource(model, source), {tab: 'ops', only_selected: true})}
          >
            {source}
          </button>
        ))}
      </p>
    </article>
  );
}

export function Findings({model}: {model: StepModel}) {
  const {step} = model;
  return (
    <div class="page-scroll">
      <section aria-label="findings">
        <h2>Findings</h2>
        {step.findings.length ? (
          step.findings.map((finding, index) => (
            <Card key={`${finding.rule}${index}`} model={model} finding={finding} number={index + 1} />
          ))
        ) : (
          <p class="empty">
            No rule found anything in this step.
            {step.rung !== 'bundles' && ` Rung ${step.rung}: the rules that need executed bundles did not run.`}
          </p>
        )}
      </section>
      <WhereCyclesGo model={model} />
      <ByPart model={model} />
      <SpeedOfLight model={model} rows={null} />
      <p>
        <button type="button" class="link" onClick={() => selectNode(model.tree.root)}>
          the whole step
        </button>{' '}
        <button type="button" class="link" onClick={() => update({tab: 'about'})}>
          assumptions and limits
        </button>
      </p>
    </div>
  );
}
