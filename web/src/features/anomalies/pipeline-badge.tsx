/** Beside a pipeline in a list: how many open anomalies it has, and how bad the worst one is. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'react-router';
import type { AnomalySeverity } from '../../../../schemas/api/insight/anomalies.ts';
import { paths } from '../../app/paths.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { anomalyQueries } from './anomaly-queries.ts';
import { openText, SEVERITY_TONES } from './anomaly-text.ts';

export interface OpenAnomalies {
  count: number;
  severity: AnomalySeverity;
}

/** By the id of the pipeline; empty until it is known. */
export function useOpenAnomalies(environmentId: string): ReadonlyMap<string, OpenAnomalies> {
  const { data: counts } = useQuery(anomalyQueries.counts(environmentId));
  const { data: severities } = useQuery(anomalyQueries.severities(environmentId));
  return useMemo(
    () =>
      new Map(
        Object.entries(counts ?? {}).map(([id, count]) => [
          id,
          { count, severity: severities?.[id] ?? 'info' },
        ]),
      ),
    [counts, severities],
  );
}

interface Props {
  env: string;
  pipeline: { id: string; name: string };
  open: OpenAnomalies | undefined;
}

export const PipelineBadge = ({ env, pipeline, open }: Props) => {
  if (!open) return <span className="muted">–</span>;
  const { shown, tip } = openText(open.count, open.severity);
  return (
    <Link
      to={paths.pipeline(env, pipeline.id, { tab: 'metrics' })}
      aria-label={`${shown}: ${tip}, of ${pipeline.name}`}
      data-tip={tip}
      className="nowrap"
    >
      <Badge tone={SEVERITY_TONES[open.severity]} icon="warning">
        {shown}
      </Badge>
    </Link>
  );
};
