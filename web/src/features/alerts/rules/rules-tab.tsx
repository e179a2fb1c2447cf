import { NativeSelect, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { AlertRule } from '../../../../../schemas/api/insight/alerts.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { useAddressParam } from '../../../app/search-params.ts';
import { Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { DataTable } from '../../../ui/table/data-table.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { ManifestProblems, problemOf } from '../../ownership/manifest-owner.tsx';
import type { RuleAction } from '../rule-dialogs.tsx';
import { ruleText } from '../rule-text.ts';
import { NoRules } from './no-rules.tsx';
import { ruleColumns } from './rule-columns.tsx';
import { type RuleState, ruleState } from './rule-state.ts';

const STATES = [
  { value: '', word: 'All' },
  { value: 'firing', word: 'Firing' },
  { value: 'cannot-fire', word: 'Cannot fire' },
  { value: 'enabled', word: 'Enabled' },
  { value: 'silent', word: 'Silent' },
  { value: 'problem', word: 'With a problem' },
] as const;

function isIn(state: string, rule: AlertRule, kind: RuleState['kind']): boolean {
  if (state === 'enabled') return rule.enabled;
  if (state === 'problem') return problemOf(rule) !== undefined;
  return STATES.some(({ value }) => value === state) ? kind === state : true;
}

const searchText = (row: AlertRule): string =>
  [row.name, ruleText(row), row.metric, row.pipelineName ?? 'whole environment', row.git?.path].join(' ');

/** In the address, for rules of no pipeline. */
const WHOLE = 'none';
/** An evaluation that changes nothing is published to nobody. */
const REFRESH_MS = 60_000;

export const RulesTab = ({ act }: { act: (action: RuleAction) => void }) => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const [state, setState] = useAddressParam('state');
  const [pipeline, setPipeline] = useAddressParam('pipeline');
  const mayEdit = team.role !== 'VIEWER';
  const now = useNow();
  const columns = useMemo(() => ruleColumns(env, mayEdit, act), [env, mayEdit, act]);
  const rules = useQuery({ ...queries.alertRules(env), refetchInterval: REFRESH_MS });
  const isShown = (rule: AlertRule): boolean =>
    (!state || isIn(state, rule, ruleState(rule, now).kind)) &&
    (!pipeline || (rule.pipelineId ?? WHOLE) === pipeline);
  return (
    <Stack gap="md">
      <ManifestProblems environmentId={env} kind="AlertRule" owned={rules.data ?? []} />
      <Loaded
        query={rules}
        what="Alert rules"
        skeleton={<SkeletonRows rows={8} label="Loading alert rules" />}
      >
        {(list) =>
          list.length === 0 ? (
            <NoRules />
          ) : (
            <DataTable
              caption="Alert rules"
              noun="rule"
              rows={state || pipeline ? list.filter(isShown) : list}
              columns={columns}
              rowKey={(row) => row.id}
              filterText={searchText}
              defaultSort="name"
              remember="alerts"
              toolbar={
                <>
                  <SegmentedControl label="State" value={state} options={STATES} onChange={setState} />
                  <PipelineFilter rules={list} value={pipeline} onChange={setPipeline} />
                </>
              }
            />
          )
        }
      </Loaded>
    </Stack>
  );
};

interface FilterProps {
  rules: readonly AlertRule[];
  value: string;
  onChange: (value: string) => void;
}

/** The pipelines that rules watch. */
const PipelineFilter = ({ rules, value, onChange }: FilterProps) => {
  const watched = new Map(
    rules.flatMap(({ pipelineId, pipelineName }) =>
      pipelineId ? [[pipelineId, pipelineName ?? 'a pipeline']] : [],
    ),
  );
  const options = [...watched].sort(([, a], [, b]) => a.localeCompare(b));
  return (
    <NativeSelect aria-label="Watches" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">Every pipeline</option>
      <option value={WHOLE}>Whole environment</option>
      {options.map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {value && value !== WHOLE && !watched.has(value) && <option value={value}>No rule watches it</option>}
    </NativeSelect>
  );
};
