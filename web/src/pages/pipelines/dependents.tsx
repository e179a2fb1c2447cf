import { useQueries } from '@tanstack/react-query';
import { queries } from '../../api/queries.ts';
import { plural } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';

/** What is deployed and depends on the pipelines, without those that are stopped with them. */
export const Dependents = ({ ids }: { ids: readonly string[] }) => {
  const warnings = useQueries({ queries: ids.map((id) => queries.undeployWarnings(id)) });
  const found = warnings.flatMap(({ data }) => data ?? []).filter(({ id }) => !ids.includes(id));
  const names = [...new Set(found.map(({ name }) => name))].sort();
  if (names.length === 0) return null;
  return (
    <p className="notice" data-tone="held">
      <Icon name="warning" size={14} />
      <span>
        {plural(names.length, 'deployed pipeline depends', 'deployed pipelines depend')} on{' '}
        {ids.length === 1 ? 'it' : 'them'} and will get no events from there: {names.join(', ')}.
      </span>
    </p>
  );
};
