// How much of each unit and memory was used: of the step, and of what is selected.
import {Tag} from '../parts/tag';
import {bytes, int, percent, si, us} from '../format';
import {sumOf, unitShare, type StepModel} from '../model';

const Meter = ({share, second}: {share: number | null; second?: number | null}) => (
  <span class="meter tall">
    <span style={{width: `${Math.min(1, Math.max(0, share ?? 0)) * 100}%`}} />
    {second !== undefined && second !== null && (
      <i style={{left: `${Math.min(1, Math.max(0, second)) * 100}%`}} title={`selected: ${percent(second)}`} />
    )}
  </span>
);

function limitText(model: StepModel, memory: string): string {
  const limit = model.report.limits.find((entry) => entry.name === memory);
  return limit ? si(limit.value, limit.unit) : '-';
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
            slots a cycle <Tag origin="compiler" />
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
              <td class="num">{int(unit.slots)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export function SpeedOfLight({model, rows}: {model: StepModel; rows: number[] | null}) {
  const {step} = model;
  const sum = rows && sumOf(model, rows);
  if (!step.units.length && !step.memories.length)
    return (
      <section>
        <h2>Speed of light</h2>
        <p class="empty">This rung has no figures by unit: nothing was executed.</p>
      </section>
    );
  return (
    <section>
      <h2>Speed of light</h2>
      {step.memories.length > 0 && (
        <table class="plain wide" id="memories">
          <thead>
            <tr>
              <th>memory</th>
              <th class="bar-head">share of the time at its peak rate</th>
              <th class="num">step</th>
              {rows && <th class="num">selected</th>}
              <th class="num">bytes</th>
              <th class="num">us at peak</th>
              <th class="num">peak</th>
            </tr>
          </thead>
          <tbody>
            {step.memories.map((memory) => {
              const second = sum && memory.memory === 'hbm' && sum.us > 0 ? sum.hbm_us / sum.us : null;
              return (
                <tr key={memory.memory}>
                  <td>
                    {memory.memory} <Tag origin={memory.origin} />
                  </td>
                  <td class="bar-cell">
                    <Meter share={memory.share} second={rows ? second : undefined} />
                  </td>
                  <td class="num">{percent(memory.share)}</td>
                  {rows && <td class="num">{percent(second)}</td>}
                  <td class="num">{bytes(memory.bytes)}</td>
                  <td class="num">{us(memory.us)}</td>
                  <td class="num">
                    {limitText(model, memory.memory)} <Tag origin={memory.limit_origin} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {step.units.length > 0 && <UnitsTable model={model} rows={rows} />}
    </section>
  );
}
