import { Link } from 'react-router';
import type { AlertRule } from '../../../../../schemas/api/insight/alerts.ts';
import { paths } from '../../../app/paths.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import type { Column } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { conditionTone } from '../../gate/condition-list.tsx';
import { OwnedActions, OwnerCell, problemOf } from '../../ownership/manifest-owner.tsx';
import type { RuleAction } from '../rule-dialogs.tsx';
import { ruleText } from '../rule-text.ts';
import { evaluationText, RULE_STATES, ruleState } from './rule-state.ts';

export const ruleColumns = (
  env: string,
  mayEdit: boolean,
  act: (action: RuleAction) => void,
): Column<AlertRule>[] => [
  {
    key: 'name',
    title: 'Name',
    width: '14%',
    sort: (row) => row.name,
    cell: (row) => <b data-tip={row.name}>{row.name}</b>,
  },
  {
    key: 'when',
    title: 'Condition',
    sort: (row) => ruleText(row),
    cell: (row) => <span data-tip={ruleText(row)}>{ruleText(row)}</span>,
  },
  {
    key: 'watches',
    title: 'Watches',
    width: '150px',
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
    width: '136px',
    sort: (row) => (problemOf(row) ? -1 : RULE_STATES.indexOf(ruleState(row, Date.now()).kind)),
    cell: (row) => (
      <span className="alert-state">
        <StateBadge rule={row} />
      </span>
    ),
  },
  {
    key: 'evaluation',
    title: 'Last evaluation',
    width: '15%',
    priority: 2,
    sort: (row) => row.evaluation?.series ?? null,
    cell: (row) => <EvaluationCell env={env} rule={row} />,
  },
  {
    key: 'owner',
    title: 'Owner',
    width: '10%',
    priority: 3,
    sort: (row) => row.git?.path ?? null,
    cell: (row) => <OwnerCell env={env} owned={row} short />,
  },
  momentColumn({ key: 'updated', title: 'Updated', width: '94px', priority: 3, at: (row) => row.updatedAt }),
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

/** A manifest that is not applied comes first: the rule is not the one in git. */
const StateBadge = ({ rule }: { rule: AlertRule }) => {
  const now = useNow();
  const problem = problemOf(rule);
  if (problem) {
    return (
      <Badge tone={conditionTone(problem)} tip={problem.message}>
        {problem.reason}
      </Badge>
    );
  }
  const { tone, icon, word, tip } = ruleState(rule, now);
  return (
    <Badge tone={tone} icon={icon} tip={tip}>
      {word}
    </Badge>
  );
};

const EvaluationCell = ({ env, rule }: { env: string; rule: AlertRule }) => {
  if (!rule.evaluation) return <span className="muted">–</span>;
  const text = evaluationText(rule.evaluation);
  return rule.evaluation.firing > 0 ? (
    <Link to={paths.alerts(env, { tab: 'history', rule: rule.id, status: 'open' })} data-tip={text}>
      {text}
    </Link>
  ) : (
    <span data-tip={text}>{text}</span>
  );
};
