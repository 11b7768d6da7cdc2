// How much of each unit and memory was used: of the step, and of what is selected.
import {Tag} from '../parts/tag';
import {fixed, int, percent, si, us} from '../format';
import {sumOf, unitShare, type StepModel, type Sum} from '../model';
import type {LimitUse} from '../schema';

const Meter = ({share, second}: {share: number | null; second?: number | null}) => (
  <span class="meter tall">
    <span style={{width: `${Math.min(1, Math.max(0, share ?? 0)) * 100}%`}} />
    {second !== undefined && second !== null && (
      <i style={{left: `${Math.min(1, Math.max(0, second)) * 100}%`}} title={`selected: ${percent(second)}`} />
    )}
  </span>
);

/** Of a selection only what its operations count is known. */
function selectedShare(limit: LimitUse, sum: Sum): number | null {
  if (sum.us <= 0) return null;
  if (limit.limit === 'hbm') return sum.hbm_us / sum.us;
  return limit.limit === 'mxu' ? sum.mxu_us / sum.us : null;
}

function LimitsTable({model, rows}: {model: StepModel; rows: number[] | null}) {
  const sum = rows && sumOf(model, rows);
  return (
    <table class="plain wide" id="limits">
      <thead>
        <tr>
          <th>limit</th>
          <th class="bar-head">share of the time at the peak rate{rows && ' (mark: selected)'}</th>
          <th class="num">step</th>
          {rows && <th class="num">selected</th>}
          <th class="num">amount</th>
          <th class="num">us at peak</th>
          <th class="num">peak</th>
        </tr>
      </thead>
      <tbody>
        {model.step.limits.map((limit) => {
          const second = sum ? selectedShare(limit, sum) : null;
          return (
            <tr key={limit.limit} data-limit={limit.limit}>
              <td>
                {limit.limit} <Tag origin={limit.origin} />
              </td>
              <td class="bar-cell">
                <Meter share={limit.share} second={rows ? second : undefined} />
              </td>
              <td class="num">{percent(limit.share)}</td>
              {rows && <td class="num">{percent(second)}</td>}
              <td class="num">{si(limit.amount, limit.unit)}</td>
              <td class="num">{us(limit.us)}</td>
              <td class="num">
                {si(limit.per_second, `${limit.unit}/s`)} <Tag origin={limit.limit_origin} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function UnitsTable({model, rows}: {model: StepModel; rows: number[] | null}) {
  const {step} = model;
  const sum = rows && sumOf(model, rows);
  return (
    <table class="plain wide" id="units">
      <thead>
        <tr>
          <th>unit</th>
          <th class="bar-head">slots filled (bar: step{rows && ', mark: selected'})</th>
          <th class="num">
            step <Tag origin={step.units[0]?.origin} />
          </th>
          {rows && <th class="num">selected</th>}
          <th class="num">issued</th>
          <th class="num">
            slots of a bundle <Tag origin={step.units[0]?.slots_origin} />
          </th>
        </tr>
      </thead>
      <tbody>
        {step.units.map((unit) => {
          const second = sum ? unitShare(model, unit.unit, sum.issued, sum.cycles) : null;
          return (
            <tr key={unit.unit} data-unit={unit.unit}>
              <td>{unit.unit}</td>
              <td class="bar-cell">
                <Meter share={unit.share} second={rows ? second : undefined} />
              </td>
              <td class="num">{percent(unit.share)}</td>
              {rows && <td class="num">{percent(second)}</td>}
              <td class="num">{int(unit.issued)}</td>
              <td class="num">{fixed(unit.slots, Number.isInteger(unit.slots) ? 0 : 2)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export function SpeedOfLight({model, rows}: {model: StepModel; rows: number[] | null}) {
  const {step} = model;
  if (!step.units.length && !step.limits.length)
    return (
      <section>
        <h2>Speed of light</h2>
        <p class="empty">This rung has no figures by unit: nothing was executed.</p>
      </section>
    );
  return (
    <section>
      <h2>Speed of light</h2>
      {step.limits.length > 0 && <LimitsTable model={model} rows={rows} />}
      {step.units.length > 0 && <UnitsTable model={model} rows={rows} />}
    </section>
  );
}
