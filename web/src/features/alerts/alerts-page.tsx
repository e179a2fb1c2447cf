import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { Link } from 'react-router';
import type { AlertRule } from '../../../../schemas/api/alerts.ts';
import { queries } from '../../api/queries.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button, ButtonLink } from '../../ui/primitives/button.tsx';
import { CommandBlock } from '../../ui/primitives/command-block.tsx';
import { Notice } from '../../ui/primitives/notice.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../ui/primitives/page-states.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { momentColumn } from '../../ui/table/time-column.tsx';
import { conditionTone } from '../gate/condition-list.tsx';
import { ManifestProblems, OwnedActions, OwnerCell, problemOf } from '../ownership/manifest-owner.tsx';
import { DeleteRuleDialog, type RuleAction, RuleDialog } from './rule-dialogs.tsx';
import { ruleText } from './rule-text.ts';

const columns = (env: string, mayEdit: boolean, act: (action: RuleAction) => void): Column<AlertRule>[] => [
  {
    key: 'name',
    title: 'Name',
    width: '18%',
    sort: (row) => row.name,
    cell: (row) => <b data-tip={row.name}>{row.name}</b>,
  },
  {
    key: 'when',
    title: 'Raised when',
    sort: (row) => ruleText(row),
    cell: (row) => <span data-tip={ruleText(row)}>{ruleText(row)}</span>,
  },
  {
    key: 'watches',
    title: 'Watches',
    width: '13%',
    priority: 2,
    sort: (row) => row.pipelineName,
    cell: (row) =>
      row.pipelineId ? (
        <Link to={paths.pipeline(env, row.pipelineId)}>{row.pipelineName ?? 'a pipeline'}</Link>
      ) : (
        'whole environment'
      ),
  },
  {
    key: 'state',
    title: 'State',
    width: '112px',
    sort: (row) => (problemOf(row) ? 0 : row.enabled ? 2 : 1),
    cell: (row) => <StateBadge rule={row} />,
  },
  {
    key: 'owner',
    title: 'Owner',
    width: '17%',
    priority: 2,
    sort: (row) => row.git?.path ?? null,
    cell: (row) => <OwnerCell env={env} owned={row} short />,
  },
  momentColumn({ key: 'updated', title: 'Updated', width: '98px', priority: 3, at: (row) => row.updatedAt }),
  {
    key: 'actions',
    title: 'Actions',
    width: '104px',
    align: 'end',
    cell: (row) => (
      <OwnedActions
        env={env}
        owned={row}
        mayNot={mayEdit ? null : 'Viewers cannot change or delete rules'}
        change={() => act({ kind: 'edit', rule: row })}
        remove={() => act({ kind: 'delete', rule: row })}
      />
    ),
  },
];

const StateBadge = ({ rule }: { rule: AlertRule }) => {
  const problem = problemOf(rule);
  if (problem) {
    return (
      <Badge tone={conditionTone(problem)} tip={problem.message}>
        {problem.reason}
      </Badge>
    );
  }
  return rule.enabled ? (
    <Badge tone="calm">Enabled</Badge>
  ) : (
    <Badge
      tone="unknown"
      icon="dash"
      tip={rule.git ? 'enabled: false in its manifest keeps it silent' : 'It is not enabled'}
    >
      Silent
    </Badge>
  );
};

const STATES = [
  { value: '', word: 'All' },
  { value: 'enabled', word: 'Enabled' },
  { value: 'silent', word: 'Silent' },
  { value: 'problem', word: 'With a problem' },
] as const;

function isIn(state: string, rule: AlertRule): boolean {
  if (state === 'enabled') return rule.enabled;
  if (state === 'silent') return !rule.enabled;
  return state !== 'problem' || problemOf(rule) !== undefined;
}

const searchText = (row: AlertRule): string =>
  [row.name, ruleText(row), row.metric, row.pipelineName ?? 'whole environment', row.git?.path].join(' ');

/** In the address, for rules of no pipeline. */
const WHOLE = 'none';

export const AlertsPage = () => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const [state, setState] = useAddressParam('state');
  const [pipeline, setPipeline] = useAddressParam('pipeline');
  const [wanted, setWanted] = useAddressParam('new', { replace: true });
  const [chosen, setChosen] = useState<RuleAction | null>(null);
  const mayEdit = team.role !== 'VIEWER';
  const action: RuleAction | null = chosen ?? (wanted && mayEdit ? { kind: 'create' } : null);
  const close = (): void => {
    setChosen(null);
    if (wanted) setWanted('');
  };
  const tableColumns = useMemo(() => columns(env, mayEdit, setChosen), [env, mayEdit]);
  const rules = useQuery(queries.alertRules(env));
  const isShown = (rule: AlertRule): boolean =>
    (!state || isIn(state, rule)) && (!pipeline || (rule.pipelineId ?? WHOLE) === pipeline);
  const add = (
    <Button
      icon="plus"
      kind="primary"
      disabled={!mayEdit}
      tip={mayEdit ? undefined : 'Viewers cannot make rules'}
      onClick={() => setChosen({ kind: 'create' })}
    >
      New alert rule
    </Button>
  );
  return (
    <Page
      title="Alerts"
      actions={
        <>
          <ButtonLink icon="link" to={paths.alertEndpoints(env)}>
            Endpoints
          </ButtonLink>
          {rules.data?.length === 0 ? null : add}
        </>
      }
    >
      <Notice icon="alerts" tone="moving">
        Rules are kept and shown, but <strong>not evaluated yet</strong>: this version raises no alert, even
        when a rule’s condition is met. Watch the overview instead.
      </Notice>
      <ManifestProblems environmentId={env} kind="AlertRule" owned={rules.data ?? []} />
      <Loaded
        query={rules}
        what="Alert rules"
        skeleton={<SkeletonRows rows={8} label="Loading alert rules" />}
      >
        {(list) =>
          list.length === 0 ? (
            <NoRules env={env} add={add} />
          ) : (
            <DataTable
              caption="Alert rules"
              noun="rule"
              rows={state || pipeline ? list.filter(isShown) : list}
              columns={tableColumns}
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
      <RuleDialog action={action} close={close} />
      <DeleteRuleDialog action={action} close={close} />
    </Page>
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

const NoRules = ({ env, add }: { env: string; add: ReactNode }) => {
  const git = useQuery(queries.git(env));
  const folder = git.data?.path || 'environments/staging';
  return (
    <EmptyState icon="alerts" title="No alert rules yet">
      <p>
        A rule says what is not well: a node that is silent, a processor that is busy, events that are lost.
        Make one here, or push it as a manifest beside the pipelines.
      </p>
      {add}
      <CommandBlock
        label="commands that push a first alert rule"
        lines={[
          `git clone ${git.data?.cloneUrl ?? '<address from the Git page>'} config && cd config`,
          `mkdir -p ${folder}/alerts`,
          `cat > ${folder}/alerts/busy-cpu.yaml <<'YAML'`,
          'apiVersion: headgate/v1',
          'kind: AlertRule',
          'metadata: { name: Busy CPU }',
          'spec: { metric: cpu_usage, condition: gt, threshold: 90, durationSeconds: 60 }',
          'YAML',
          "git add . && git commit -m 'Add an alert rule' && git push",
        ]}
      />
    </EmptyState>
  );
};
