// Numbers as an engineer reads them: grouped, three or four figures, the unit in the column's head where there is one.

const grouped = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});
const missing = '-';

export const int = (value: number | null | undefined): string =>
  value === null || value === undefined || !Number.isFinite(value) ? missing : grouped.format(value);

export function fixed(value: number | null | undefined, digits: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return missing;
  return value.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

export function us(value: number | null | undefined): string {
  if (value === null || value === undefined) return missing;
  const size = Math.abs(value);
  return fixed(value, size === 0 || size >= 1000 ? 1 : size >= 10 ? 2 : 3);
}

export const signed = (text: string, value: number): string => (value > 0 ? `+${text}` : text.replace(/^-/, '\u2212'));

export function percent(share: number | null | undefined, digits = 1): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return missing;
  return `${fixed(share * 100, digits)} %`;
}

const steps: [number, string][] = [
  [1e18, 'E'],
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

/** 1.64 T, 918 T, 12.3 M: decimal prefixes. */
export function si(value: number | null | undefined, unit = ''): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return missing;
  const size = Math.abs(value);
  for (const [scale, prefix] of steps) {
    if (size >= scale) return `${(value / scale).toPrecision(size / scale >= 1000 ? 4 : 3)} ${prefix}${unit}`;
  }
  return `${size === 0 || Number.isInteger(value) ? value : value.toPrecision(3)}${unit ? ` ${unit}` : ''}`;
}

export const bytes = (value: number | null | undefined): string => si(value, 'B');

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${int(count)} ${count === 1 ? one : many}`;
