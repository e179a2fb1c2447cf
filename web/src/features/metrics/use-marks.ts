import { useMemo } from 'react';
import { useNavigate } from 'react-router';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import type { Mark } from '../../ui/chart/time-series.ts';
import { type ChartMark, marksOf, pipelinesOf } from './chart-data.ts';

/** Marks of a chart; one of an alert leads to the page of its event, one of a single pipeline to that pipeline. */
export function useMarks(marks: readonly ChartMark[]): Mark[] {
  const { environment } = usePlace();
  const navigate = useNavigate();
  return useMemo(
    () =>
      marksOf(marks, (mark) => {
        const path = pathOf(environment.id, mark);
        return path === null ? undefined : () => void navigate(path);
      }),
    [marks, environment.id, navigate],
  );
}

/** Null where it stands for nothing, or for several, that have a page of their own. */
export function pathOf(environmentId: string, mark: ChartMark): string | null {
  if (mark.eventId !== null) return paths.alerts(environmentId, { event: mark.eventId });
  const [only, ...others] = pipelinesOf(mark);
  if (!only || others.length > 0) return null;
  return paths.pipeline(environmentId, only.id, { tab: 'metrics' });
}
