import type { RateSample } from '../../api/rate-history.ts';

const WIDTH = 72;
const HEIGHT = 20;

/** A line of what was seen lately, without axes: the number beside it says how much. */
export const Sparkline = ({
  samples,
  of,
}: {
  samples: readonly RateSample[];
  of: Exclude<keyof RateSample, 'asOf'>;
}) => {
  const values = samples.map((sample) => sample[of]);
  const top = Math.max(...values, 1e-9);
  const start = samples[0]?.at ?? 0;
  const span = Math.max((samples.at(-1)?.at ?? 0) - start, 1);
  const points = samples.map(({ at }, index) => {
    const x = ((at - start) / span) * WIDTH;
    const y = HEIGHT - 2 - ((values[index] ?? 0) / top) * (HEIGHT - 4);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg
      className="spark"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden="true"
    >
      {points.length > 1 ? (
        <>
          <polygon className="spark-area" points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} />
          <polyline className="spark-line" points={points.join(' ')} />
        </>
      ) : (
        <line className="spark-base" x1="0" x2={WIDTH} y1={HEIGHT - 2} y2={HEIGHT - 2} />
      )}
    </svg>
  );
};
