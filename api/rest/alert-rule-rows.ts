/** One alert rule: read, changed, deleted. */
import { alertOperations } from '../../controller/insight/alerts/index.ts';
import { DeletedBody, RuleBody, RuleChanges } from '../../schemas/api/rest.ts';
import { idOf, type RestRow, row } from './row.ts';

export const ALERT_RULE_ROWS: readonly RestRow[] = [
  row({
    method: 'GET',
    path: '/alerts/rules/{id}',
    operationId: 'getAlertRule',
    tag: 'Alert rules',
    summary: 'One alert rule',
    operation: alertOperations.getRule,
    state: 'alertRule',
    response: RuleBody,
    input: (request) => ({ id: idOf(request) }),
    output: (rule) => ({ rule }),
  }),
  row({
    method: 'PATCH',
    path: '/alerts/rules/{id}',
    operationId: 'updateAlertRule',
    tag: 'Alert rules',
    summary: 'Change an alert rule',
    description: 'Fields that are left out stay as they are.',
    operation: alertOperations.updateRule,
    mayGoToGit: true,
    state: 'alertRule',
    body: RuleChanges,
    response: RuleBody,
    input: (request) => ({ ...request.body, id: idOf(request) }),
    output: (rule) => ({ rule }),
  }),
  row({
    method: 'DELETE',
    path: '/alerts/rules/{id}',
    operationId: 'deleteAlertRule',
    tag: 'Alert rules',
    summary: 'Delete an alert rule, for good',
    operation: alertOperations.deleteRule,
    mayGoToGit: true,
    state: 'alertRule',
    response: DeletedBody,
    input: (request) => ({ id: idOf(request) }),
    output: ({ deleted }) => ({ deleted }),
  }),
];
