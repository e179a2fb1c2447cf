/** Which events the history lists, in the address. */
import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { HistoryFilter } from '../../../api/queries/alerts.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { putParam, useAddress } from '../../../app/search-params.ts';
import { Button } from '../../../ui/primitives/button.tsx';

const STATUSES = [
  { value: 'open', word: 'Open' },
  { value: 'firing', word: 'Firing' },
  { value: 'acknowledged', word: 'Acknowledged' },
  { value: 'resolved', word: 'Resolved' },
] as const;

const NAMES = ['status', 'rule', 'node', 'pipeline'] as const;
type Name = (typeof NAMES)[number];

interface HistoryFilters {
  values: Readonly<Record<Name, string>>;
  filter: HistoryFilter;
  set: (name: Name, value: string) => void;
  clear: () => void;
  isFiltered: boolean;
}

export function useHistoryFilters(): HistoryFilters {
  const [params, change] = useAddress();
  const [status, rule, node, pipeline] = NAMES.map((name) => params.get(name) ?? '');
  const filter = useMemo((): HistoryFilter => {
    const known = STATUSES.find(({ value }) => value === status)?.value;
    return {
      ...(known ? { status: known } : {}),
      ...(rule ? { ruleId: rule } : {}),
      ...(node ? { nodeId: node } : {}),
      ...(pipeline ? { pipelineId: pipeline } : {}),
    };
  }, [status, rule, node, pipeline]);
  return {
    values: { status: filter.status ?? '', rule: rule ?? '', node: node ?? '', pipeline: pipeline ?? '' },
    filter,
    set: (name, value) => change((next) => putParam(next, name, value), { replace: true }),
    clear: () =>
      change(
        (next) => {
          for (const name of NAMES) next.delete(name);
        },
        { replace: true },
      ),
    isFiltered: Object.keys(filter).length > 0,
  };
}

export const HistoryFilterBar = ({ values, set, clear, isFiltered }: HistoryFilters) => {
  const { environment } = usePlace();
  const rules = useQuery(queries.alertRules(environment.id)).data ?? [];
  const nodes = useQuery(queries.nodes(environment.id)).data ?? [];
  const pipelines = useQuery(queries.pipelines(environment.id)).data ?? [];
  return (
    <search className="alert-filters" aria-label="Filter the history of alerts">
      <Choice
        label="Status"
        all="Any status"
        value={values.status}
        options={STATUSES.map(({ value, word }) => ({ id: value, name: word }))}
        onChange={(value) => set('status', value)}
        inOrder
      />
      <Choice
        label="Rule"
        all="Any rule"
        value={values.rule}
        options={rules}
        onChange={(value) => set('rule', value)}
      />
      <Choice
        label="Node"
        all="Any node"
        value={values.node}
        options={nodes}
        onChange={(value) => set('node', value)}
      />
      <Choice
        label="Pipeline"
        all="Any pipeline"
        value={values.pipeline}
        options={pipelines}
        onChange={(value) => set('pipeline', value)}
      />
      {isFiltered && (
        <Button size="small" onClick={clear}>
          Clear the filters
        </Button>
      )}
    </search>
  );
};

interface ChoiceProps {
  label: string;
  all: string;
  value: string;
  options: readonly { id: string; name: string }[];
  onChange: (value: string) => void;
  inOrder?: boolean;
}

const Choice = ({ label, all, value, options, onChange, inOrder = false }: ChoiceProps) => {
  const sorted = inOrder ? options : [...options].sort((a, b) => a.name.localeCompare(b.name));
  const isKnown = options.some(({ id }) => id === value);
  return (
    <NativeSelect aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{all}</option>
      {sorted.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {value && !isKnown && <option value={value}>{`${label} that was deleted`}</option>}
    </NativeSelect>
  );
};
