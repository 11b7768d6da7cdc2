// One line: what this report is of, its step and total, search, theme, help.
import {percent, us} from '../format';
import {Tag} from '../parts/tag';
import {chooseStep, update, type State} from '../store';
import type {StepModel} from '../model';

const nextTheme = {auto: 'dark', dark: 'light', light: 'auto'} as const;

const rungs: Record<string, string> = {
  bundles: 'the compiled bundles were executed on the model of the chip',
  compiler: "not executed: the compiler's own estimates, and bounds where it gives none",
  roofline: 'not executed and not estimated: bounds by the datasheet only',
};

export function Header({model, state}: {model: StepModel; state: State}) {
  const {report, step} = model;
  return (
    <header>
      <h1>{report.subject || 'sublane'}</h1>
      <span class="dim clip" title={report.detail ?? ''}>
        {report.detail}
      </span>
      <span class="fact">
        {report.chip}
        {report.devices > 1 ? ` x ${report.devices}` : ''}
      </span>
      {report.steps.length > 1 ? (
        <select
          aria-label="step"
          id="step"
          value={String(state.step)}
          onChange={(event) => chooseStep(Number(event.currentTarget.value))}
        >
          {report.steps.map((entry, index) => (
            <option key={index} value={String(index)}>
              {entry.name}
            </option>
          ))}
        </select>
      ) : (
        <span class="fact">{step.name}</span>
      )}
      <span class="step-total" id="total" data-us={step.total_us} title={`${step.total_us} us`}>
        {us(step.total_us)} us{step.error ? ` \u00b1 ${percent(step.error.relative, 0)}` : ''}{' '}
        <Tag origin={step.origin} />
      </span>
      <span
        class={`rung rung-${step.rung}`}
        title={[rungs[step.rung], step.reason, step.hint].filter(Boolean).join('\n')}
      >
        rung {step.rung}
      </span>
      {report.diff && (
        <span class="rung" title="everything but the tab Diff is of the side after">
          after
        </span>
      )}
      {report.focus && (
        <span class="rung" title="only these rows are in the report; totals are the whole step's">
          focus {report.focus}
        </span>
      )}
      {report.redacted && (
        <span class="rung" title="names, constants and source were stripped">
          redacted
        </span>
      )}
      <span class="gap" />
      <button
        type="button"
        id="search-open"
        onClick={() => update({overlay: 'search'})}
        title="search operations, parts, kernels, findings, sources"
      >
        search <kbd>/</kbd>
      </button>
      <button
        type="button"
        id="theme"
        onClick={() => update({theme: nextTheme[state.theme]})}
        title="automatic, dark, light (t)"
      >
        {state.theme}
      </button>
      <button
        type="button"
        id="help-open"
        onClick={() => update({overlay: 'help'})}
        aria-label="help"
        title="keys and tags (?)"
      >
        ?
      </button>
    </header>
  );
}
