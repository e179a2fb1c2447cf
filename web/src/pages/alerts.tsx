import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { AlertRule } from '../../../schemas/api/alerts.ts';
import { queries } from '../api/queries.ts';
import { usePlace } from '../app/environment.tsx';
import { paths } from '../app/paths.ts';
import { Badge, Time } from '../components/bits.tsx';
import { CommandBlock } from '../components/command-block.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Icon } from '../components/icons.tsx';
import { ManifestProblems, OwnerCell, problemOf } from '../components/manifest-owner.tsx';
import { Page } from '../components/page.tsx';
import { Segmented } from '../components/segmented.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../components/states.tsx';
import { ruleInWords } from './alerts/rule-words.ts';

const columns = (env: string): Column<AlertRule>[] => [
  {
    key: 'name',
    title: 'Name',
    width: '19%',
    sort: (row) => row.name,
    cell: (row) => <b data-tip={row.name}>{row.name}</b>,
  },
  {
    key: 'when',
    title: 'Raised when',
    sort: (row) => ruleInWords(row),
    cell: (row) => <span data-tip={ruleInWords(row)}>{ruleInWords(row)}</span>,
  },
  {
    key: 'watches',
    title: 'Watches',
    width: '14%',
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
    width: '24%',
    priority: 2,
    sort: (row) => row.git?.path ?? null,
    cell: (row) => <OwnerCell env={env} owned={row} />,
  },
  {
    key: 'updated',
    title: 'Updated',
    width: '98px',
    align: 'end',
    priority: 3,
    sort: (row) => row.updatedAt.getTime(),
    cell: (row) => <Time at={row.updatedAt} />,
  },
];

const StateBadge = ({ rule }: { rule: AlertRule }) => {
  const problem = problemOf(rule);
  if (problem) {
    return (
      <Badge tone="failed" tip={problem.message}>
        {problem.reason}
      </Badge>
    );
  }
  return rule.enabled ? (
    <Badge tone="calm">Enabled</Badge>
  ) : (
    <Badge tone="unknown" icon="dash" tip="enabled: false in its manifest keeps it silent">
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
  [row.name, ruleInWords(row), row.metric, row.pipelineName ?? 'whole environment', row.git?.path].join(' ');

export const AlertsPage = () => {
  const { environment } = usePlace();
  const env = environment.id;
  const [params, setParams] = useSearchParams();
  const state = params.get('state') ?? '';
  const tableColumns = useMemo(() => columns(env), [env]);
  const rules = useQuery(queries.alertRules(env));
  return (
    <Page title="Alerts">
      <p className="notice" data-tone="moving">
        <Icon name="alerts" size={14} />
        <span>
          Rules are kept and shown, but <strong>not evaluated yet</strong>: this version raises no alert, even
          when a rule’s condition is met. Watch the overview instead.
        </span>
      </p>
      <ManifestProblems environmentId={env} kind="AlertRule" owned={rules.data ?? []} />
      <Loaded
        query={rules}
        what="Alert rules"
        skeleton={<SkeletonRows rows={8} label="Loading alert rules" />}
      >
        {(list) =>
          list.length === 0 ? (
            <NoRules env={env} />
          ) : (
            <DataTable
              caption="Alert rules"
              noun="rule"
              rows={state ? list.filter((row) => isIn(state, row)) : list}
              columns={tableColumns}
              rowKey={(row) => row.id}
              filterText={searchText}
              defaultSort="name"
              toolbar={
                <Segmented
                  label="State"
                  value={state}
                  options={STATES}
                  onChange={(value) =>
                    setParams((before) => {
                      const next = new URLSearchParams(before);
                      if (value) next.set('state', value);
                      else next.delete('state');
                      return next;
                    })
                  }
                />
              }
            />
          )
        }
      </Loaded>
    </Page>
  );
};

const NoRules = ({ env }: { env: string }) => {
  const git = useQuery(queries.git(env));
  const folder = git.data?.path || 'environments/staging';
  return (
    <EmptyState icon="alerts" title="No alert rules yet">
      <p>
        A rule is a manifest beside the pipelines. Push one, and it is kept here with its owner and state.
      </p>
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
