import { useMemo } from 'react';
import { useRateHistory } from '../../api/rate-history.ts';
import { type Series, SeriesChart } from '../../ui/chart/series.tsx';
import { formatRate } from '../../ui/text/format.ts';

export const Throughput = ({ pipelineId }: { pipelineId: string }) => {
  const samples = useRateHistory(pipelineId);
  const times = useMemo(() => samples.map(({ at }) => at), [samples]);
  const series = useMemo<Series[]>(
    () => [
      { name: 'Events in', color: '--accent', values: samples.map(({ eventsIn }) => eventsIn) },
      { name: 'Events out', color: '--ok-fill', values: samples.map(({ eventsOut }) => eventsOut) },
      { name: 'Errors', color: '--failed-fill', values: samples.map(({ errors }) => errors) },
    ],
    [samples],
  );
  const last = samples.at(-1);
  const label = last
    ? `Events a second: ${formatRate(last.eventsIn)} in, ${formatRate(last.eventsOut)} out, ${formatRate(last.errors)} errors`
    : 'Events a second: nothing seen yet';
  return (
    <>
      <p className="legend" style={{ padding: '10px 16px 0' }}>
        {series.map(({ name, color, values }) => (
          <span key={name}>
            <i style={{ background: `var(${color})` }} />
            {name} <span className="mono">{last ? formatRate(values.at(-1) ?? 0) : '–'}</span>
          </span>
        ))}
      </p>
      <SeriesChart label={label} times={times} series={series} format={formatRate} />
    </>
  );
};
