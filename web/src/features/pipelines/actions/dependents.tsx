import { useQueries } from '@tanstack/react-query';
import { queries } from '../../../api/queries/index.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { plural } from '../../../ui/text/format.ts';

/** What is deployed and depends on the pipelines, without those that are stopped with them. */
export const Dependents = ({ ids }: { ids: readonly string[] }) => {
  const warnings = useQueries({ queries: ids.map((id) => queries.undeployWarnings(id)) });
  const found = warnings.flatMap(({ data }) => data ?? []).filter(({ id }) => !ids.includes(id));
  const names = [...new Set(found.map(({ name }) => name))].sort();
  if (names.length === 0) return null;
  return (
    <Notice icon="warning" tone="held">
      {plural(names.length, 'deployed pipeline depends', 'deployed pipelines depend')} on{' '}
      {ids.length === 1 ? 'it' : 'them'} and will get no events from there: {names.join(', ')}.
    </Notice>
  );
};
