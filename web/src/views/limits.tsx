// Units and memories against their limits, and the roofline.
import type {StepModel} from '../model';
import type {State} from '../store';
import {Roofline} from './roofline';
import {SpeedOfLight} from './speed_of_light';

export function Limits({model, state}: {model: StepModel; state: State}) {
  const rows = state.selection ? state.selection.rows : null;
  return (
    <div class="page-scroll">
      {state.selection && <p class="dim">selected: {state.selection.title}</p>}
      <SpeedOfLight model={model} rows={rows} />
      <Roofline model={model} state={state} />
    </div>
  );
}
