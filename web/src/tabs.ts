import type {TabId} from './store';

/** In the order of the number keys 1 to 9, then 0. */
export const tabs: {id: TabId; label: string}[] = [
  {id: 'findings', label: 'Findings'},
  {id: 'flame', label: 'Flame, time line'},
  {id: 'ops', label: 'Operations'},
  {id: 'limits', label: 'Units, roofline'},
  {id: 'memory', label: 'Memory'},
  {id: 'transfers', label: 'Transfers'},
  {id: 'layouts', label: 'Layouts'},
  {id: 'bundles', label: 'Kernels, bundles'},
  {id: 'diff', label: 'Diff'},
  {id: 'about', label: 'About'},
];
