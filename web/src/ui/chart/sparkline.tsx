const WIDTH = 72;
const HEIGHT = 20;

/** A line without axes: the number beside it says how much. Null values are gaps. */
export const Sparkline = ({ values }: { values: readonly (number | null)[] }) => {
  const top = Math.max(...values.map((value) => value ?? 0), 1e-9);
  const step = WIDTH / Math.max(values.length - 1, 1);
  const parts = partsOf(values).map((part) =>
    part.map(
      ({ index, value }) =>
        `${(index * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 4)).toFixed(1)}`,
    ),
  );
  return (
    <svg
      className="spark"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden="true"
    >
      {parts.length === 0 && (
        <line className="spark-base" x1="0" x2={WIDTH} y1={HEIGHT - 2} y2={HEIGHT - 2} />
      )}
      {parts.map((points) => {
        const [first, last] = [points[0]?.split(',')[0], points.at(-1)?.split(',')[0]];
        return (
          <g key={first}>
            <polygon
              className="spark-area"
              points={`${first},${HEIGHT} ${points.join(' ')} ${last},${HEIGHT}`}
            />
            <polyline className="spark-line" points={points.join(' ')} />
          </g>
        );
      })}
    </svg>
  );
};

/** Runs of values without a gap; one value alone is no line. */
function partsOf(values: readonly (number | null)[]): { index: number; value: number }[][] {
  const parts: { index: number; value: number }[][] = [];
  let open: { index: number; value: number }[] = [];
  values.forEach((value, index) => {
    if (value !== null) open.push({ index, value });
    if (value !== null && index < values.length - 1) return;
    if (open.length > 1) parts.push(open);
    open = [];
  });
  return parts;
}
