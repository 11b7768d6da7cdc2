// A table of many rows: sorted by any column, filtered, drawn only where in sight, walked with the arrow keys.
import type {ComponentChildren} from 'preact';
import {useMemo, useState} from 'preact/hooks';
import {int} from '../format';
import {Tag} from './tag';
import {Rows, useWindow} from './virtual';

export interface Column<T> {
  key: string;
  label: string;
  width: string; // of a CSS grid
  num?: boolean;
  origin?: string; // where the column's numbers come from
  title?: string;
  value: (row: T) => number | string | null;
  show?: (row: T) => ComponentChildren;
  total?: (rows: T[]) => ComponentChildren;
}

export interface TableProps<T> {
  id: string;
  label: string;
  columns: Column<T>[];
  rows: T[];
  sort: [string, 'up' | 'down'] | null;
  text: (row: T) => string; // what the filter looks at
  rowKey: (row: T) => string | number;
  selected?: (row: T) => boolean;
  onSelect?: (row: T) => void;
  tools?: ComponentChildren;
  empty: string;
}

const rowHeight = 21;

function compare(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', {numeric: true});
}

function arranged<T>(props: TableProps<T>, sort: [string, 'up' | 'down'] | null, filter: string): T[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = words.length
    ? props.rows.filter((row) => {
        const text = props.text(row).toLowerCase();
        return words.every((word) => text.includes(word));
      })
    : props.rows;
  const column = sort && props.columns.find((entry) => entry.key === sort[0]);
  if (!column) return rows;
  const sign = sort[1] === 'up' ? 1 : -1;
  return rows
    .map((row, index) => ({row, index, value: column.value(row)}))
    .sort((a, b) => sign * compare(a.value, b.value) || a.index - b.index)
    .map((entry) => entry.row);
}

/** One width for all rows, whatever is in them: what the columns need at least, or the box. */
function gridOf(columns: Column<never>[]): {gridTemplateColumns: string; width: string} {
  const least = columns.reduce((sum, column) => sum + Number(/(\d+)px/.exec(column.width)?.[1] ?? 0) + 8, 8);
  return {gridTemplateColumns: columns.map((column) => column.width).join(' '), width: `max(100%, ${least}px)`};
}

export function Table<T>(props: TableProps<T>) {
  const [sort, setSort] = useState(props.sort);
  const [filter, setFilter] = useState('');
  const [at, setAt] = useState(-1);
  const rows = useMemo(() => arranged(props, sort, filter), [props.rows, sort, filter]);
  const [ref, window, show] = useWindow(rows.length, rowHeight, 46);
  const grid = useMemo(() => gridOf(props.columns), [props.columns]);
  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setAt(next);
    show(next);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const page = 20;
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) move(to);
    else if ((event.key === 'Enter' || event.key === ' ') && rows[at]) props.onSelect?.(rows[at]!);
    else return;
    event.preventDefault();
  };
  const sortBy = (column: Column<T>) =>
    setSort((old) =>
      old?.[0] === column.key
        ? [column.key, old[1] === 'down' ? 'up' : 'down']
        : [column.key, column.num ? 'down' : 'up'],
    );
  const sums = props.columns.some((column) => column.total);
  return (
    <div class="table" id={props.id}>
      <div class="tools">
        <input
          type="search"
          placeholder="filter"
          aria-label={`filter ${props.label}`}
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        {props.tools}
        <span class="count">
          {rows.length === props.rows.length ? int(rows.length) : `${int(rows.length)} of ${int(props.rows.length)}`}{' '}
          rows
        </span>
      </div>
      <div
        class="scroll"
        ref={ref}
        role="grid"
        aria-label={props.label}
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        onKeyDown={keys}
        aria-activedescendant={at >= window.first && at < window.last ? `${props.id}-r${at}` : undefined}
      >
        <div class="head" role="row" aria-rowindex={1} style={grid}>
          {props.columns.map((column) => (
            <div
              key={column.key}
              role="columnheader"
              data-key={column.key}
              aria-sort={sort?.[0] === column.key ? (sort[1] === 'up' ? 'ascending' : 'descending') : 'none'}
            >
              <button type="button" class={column.num ? 'num' : ''} title={column.title} onClick={() => sortBy(column)}>
                <span>
                  {column.label}
                  {sort?.[0] === column.key ? (sort[1] === 'up' ? ' \u25b2' : ' \u25bc') : ''}
                </span>
                <Tag origin={column.origin} />
              </button>
            </div>
          ))}
        </div>
        {sums && rows.length > 0 && (
          <div class="row sum" role="row" style={grid} data-sum>
            {props.columns.map((column) => (
              <span key={column.key} role="gridcell" data-key={column.key} class={column.num ? 'num' : ''}>
                {column.total?.(rows)}
              </span>
            ))}
          </div>
        )}
        <Rows
          count={rows.length}
          window={window}
          rowHeight={rowHeight}
          row={(index) => {
            const row = rows[index]!;
            const selected = props.selected?.(row) ?? false;
            return (
              <div
                key={props.rowKey(row)}
                id={`${props.id}-r${index}`}
                role="row"
                aria-rowindex={index + 2}
                aria-selected={selected}
                data-key={props.rowKey(row)}
                class={`row${selected ? ' selected' : ''}${index === at ? ' at' : ''}`}
                style={grid}
                onClick={() => {
                  setAt(index);
                  props.onSelect?.(row);
                }}
              >
                {props.columns.map((column) => (
                  <span
                    key={column.key}
                    role="gridcell"
                    class={column.num ? 'num' : ''}
                    title={column.show ? undefined : String(column.value(row) ?? '')}
                  >
                    {column.show ? column.show(row) : column.value(row)}
                  </span>
                ))}
              </div>
            );
          }}
        />
        {rows.length === 0 && <p class="empty">{props.rows.length ? 'Nothing matches the filter.' : props.empty}</p>}
      </div>
    </div>
  );
}
