// Where a number comes from, in a few letters beside it or in its column's head.

const texts: Record<string, [string, string]> = {
  measured: ['meas', 'measured on a TPU'],
  simulated: ['sim', 'simulated: bundles executed on the model of the chip'],
  compiler: ['comp', "the compiler's own estimate or figure"],
  datasheet: ['data', "from the maker's published figures"],
  assumed: ['assu', 'assumed: nobody has published it'],
  counted: ['count', 'counted by Sublane in the compiled program'],
  row: ['by row', 'each row names its origin in the column "origin"'],
};

export function Tag({origin}: {origin: string | null | undefined}) {
  if (!origin) return null;
  const [short, long] = texts[origin] ?? [origin, origin];
  return (
    <span class={`tag tag-${origin in texts ? origin : 'other'}`} title={long}>
      {short}
    </span>
  );
}

export const originText = (origin: string): string => texts[origin]?.[1] ?? origin;
export const origins = Object.keys(texts).filter((origin) => origin !== 'row');
export const originShort = (origin: string): string => texts[origin]?.[0] ?? origin;
