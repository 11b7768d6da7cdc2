// A table's switch: all rows, or those of the selection.
import {int} from '../format';
import {update, type State} from '../store';

export function SelectionFilter({state}: {state: State}) {
  if (!state.selection) return null;
  const {title, rows} = state.selection;
  return (
    <button
      type="button"
      class="filter"
      aria-pressed={state.only_selected}
      onClick={() => update({only_selected: !state.only_selected})}
    >
      {state.only_selected ? 'only' : 'all; show only'} {title} ({int(rows.length)} ops)
    </button>
  );
}
