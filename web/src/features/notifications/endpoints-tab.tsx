import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import type { WebhookEndpoint } from '../../../../schemas/api/insight/notifications.ts';
import { queries } from '../../api/queries/index.ts';
import { whyNot } from '../../app/permissions.ts';
import { type Place, usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { useReportedMutation } from '../../ui/form/reported-mutation.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { RowMenu, type RowMenuItem } from '../../ui/primitives/row-menu.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { METRICS } from '../alerts/rule-text.ts';
import { useBecameGit, useUiEdits } from '../ownership/git-edits.tsx';
import { OwnerCell } from '../ownership/manifest-owner.tsx';
import { Deliveries } from './deliveries.tsx';
import { isOfTeam, renewEndpoints, toggleEndpoint } from './endpoint-calls.ts';
import { type EndpointAction, EndpointDialogs } from './endpoint-dialogs.tsx';
import { addressText, endpointName, formatText, STATE_TEXT } from './endpoint-text.ts';

const mayNotChange = ({ team }: Place, endpoint: WebhookEndpoint): string | null =>
  whyNot(team.role, isOfTeam(endpoint) ? 'ADMIN' : 'EDITOR');

function eventsText(endpoint: WebhookEndpoint): string {
  if (endpoint.eventTypes.length === METRICS.length) return 'All alerts';
  return METRICS.filter(({ value }) => endpoint.eventTypes.includes(value))
    .map(({ word }) => word)
    .join(', ');
}

interface Acts {
  act: (action: EndpointAction) => void;
  showDeliveries: (id: string) => void;
  toggle: (endpoint: WebhookEndpoint) => void;
}

const columns = (place: Place, acts: Acts): Column<WebhookEndpoint>[] => [
  {
    key: 'name',
    title: 'Endpoint',
    width: '26%',
    sort: endpointName,
    cell: (row) => (
      <span data-tip={row.url}>
        <b>{endpointName(row)}</b>
        {row.name !== null && <span className="muted"> {addressText(row)}</span>}
        {row.git && (
          <span className="muted">
            {' '}
            <OwnerCell env={place.environment.id} owned={{ name: endpointName(row), git: row.git }} short />
          </span>
        )}
      </span>
    ),
  },
  {
    key: 'format',
    title: 'Format',
    width: '130px',
    priority: 2,
    sort: (row) => formatText(row.format).word,
    cell: (row) => formatText(row.format).word,
  },
  {
    key: 'of',
    title: 'Sends alerts of',
    width: '15%',
    priority: 2,
    sort: (row) => (isOfTeam(row) ? place.team.name : place.environment.name),
    cell: (row) => (isOfTeam(row) ? `Team ${place.team.name}` : place.environment.name),
  },
  {
    key: 'events',
    title: 'Alerts about',
    priority: 3,
    sort: eventsText,
    cell: (row) => <span data-tip={eventsText(row)}>{eventsText(row)}</span>,
  },
  {
    key: 'state',
    title: 'State',
    width: '124px',
    sort: (row) => (row.enabled ? 0 : 1),
    cell: (row) =>
      row.enabled ? (
        <Badge tone="calm">Enabled</Badge>
      ) : (
        <Badge tone="unknown" icon="dash">
          Disabled
        </Badge>
      ),
  },
  {
    key: 'last',
    title: 'Last delivery',
    width: '210px',
    priority: 2,
    sort: (row) => row.lastDelivery?.at.getTime() ?? null,
    cell: (row) => <LastDelivery endpoint={row} show={acts.showDeliveries} />,
  },
  {
    key: 'actions',
    title: 'Actions',
    width: '76px',
    align: 'end',
    cell: (row) => <EndpointMenu endpoint={row} mayNot={mayNotChange(place, row)} {...acts} />,
  },
];

const LastDelivery = ({ endpoint, show }: { endpoint: WebhookEndpoint; show: (id: string) => void }) => {
  const { lastDelivery, id } = endpoint;
  return (
    <span className="button-row">
      {lastDelivery && (
        <Badge tone={STATE_TEXT[lastDelivery.state].tone} tip={lastDelivery.error ?? undefined}>
          {STATE_TEXT[lastDelivery.state].word}
        </Badge>
      )}
      <Button size="small" onClick={() => show(id)}>
        {lastDelivery ? <Time at={lastDelivery.at} /> : 'None yet'}
        <span className="sr-only">: deliveries to {endpointName(endpoint)}</span>
      </Button>
    </span>
  );
};

const EndpointMenu = ({
  endpoint,
  mayNot,
  act,
  showDeliveries,
  toggle,
}: Acts & { endpoint: WebhookEndpoint; mayNot: string | null }) => {
  const { git } = endpoint;
  const edits = useUiEdits(git !== null);
  const reason =
    mayNot ?? (git && edits === 'refuse' ? `Described at ${git.path}:${git.line}: change it there` : null);
  const disabled = reason !== null;
  const items: RowMenuItem[] = [
    { word: 'Show deliveries and test', icon: 'deploy', run: () => showDeliveries(endpoint.id) },
    { word: 'Change', icon: 'pencil', disabled, run: () => act({ kind: 'edit', endpoint }) },
    ...(isOfTeam(endpoint) && endpoint.format === 'standard'
      ? [
          {
            ...{ word: 'Rotate the secret', icon: 'sync' as const, disabled },
            run: () => act({ kind: 'rotate', endpoint }),
          },
        ]
      : []),
    {
      ...{
        word: endpoint.enabled ? 'Disable' : 'Enable',
        icon: endpoint.enabled ? 'held' : 'check',
        disabled,
      },
      run: () => toggle(endpoint),
    },
    { word: 'Delete', icon: 'trash', disabled, run: () => act({ kind: 'delete', endpoint }) },
  ];
  return (
    <RowMenu
      label={`Actions of ${endpointName(endpoint)}`}
      items={items}
      reasons={reason === null ? [] : [reason]}
    />
  );
};

/** Where alerts are sent to, of the team and of this environment. */
export const EndpointsTab = () => {
  const place = usePlace();
  const queryClient = useQueryClient();
  const ofTeam = useQuery(queries.webhookEndpoints(place.team.id));
  const ofEnvironment = useQuery(queries.alertWebhooks(place.environment.id));
  const [action, setAction] = useState<EndpointAction | null>(null);
  const [shownId, showDeliveries] = useAddressParam('deliveries', { replace: true });
  const became = useBecameGit();
  const toggle = useReportedMutation(() => renewEndpoints(queryClient), {
    run: async (endpoint: WebhookEndpoint) => became(await toggleEndpoint(endpoint)),
    done: (isInGit, endpoint: WebhookEndpoint) =>
      isInGit ? null : `${endpointName(endpoint)} is ${endpoint.enabled ? 'disabled' : 'enabled'}`,
    failed: 'It was not changed',
  });
  const tableColumns = columns(place, {
    act: setAction,
    showDeliveries,
    toggle: (row) => toggle.mutate(row),
  });
  const mayNot = whyNot(place.team.role, 'EDITOR');
  const add = (
    <Button
      icon="plus"
      kind="primary"
      disabled={mayNot !== null}
      tip={mayNot ?? undefined}
      onClick={() => setAction({ kind: 'create' })}
    >
      New endpoint
    </Button>
  );
  const query = ofTeam.data === undefined ? ofTeam : ofEnvironment;
  const rows = useMemo(
    () => [...(ofEnvironment.data ?? []), ...(ofTeam.data ?? [])],
    [ofEnvironment.data, ofTeam.data],
  );
  const shown = rows.find(({ id }) => id === shownId);
  return (
    <>
      <Loaded query={query} what="Endpoints" skeleton={<SkeletonRows rows={5} label="Loading endpoints" />}>
        {() =>
          rows.length === 0 ? (
            <NoEndpoints add={add} />
          ) : (
            <DataTable
              caption="Endpoints"
              noun="endpoint"
              rows={rows}
              columns={tableColumns}
              rowKey={(row) => row.id}
              filterText={(row) => [endpointName(row), row.url, formatText(row.format).word].join(' ')}
              defaultSort="name"
              remember="endpoints"
              toolbar={add}
            />
          )
        }
      </Loaded>
      <EndpointDialogs action={action} close={() => setAction(null)} />
      <Dialog
        title={shown ? `Deliveries to ${endpointName(shown)}` : 'Deliveries'}
        opened={shown !== undefined}
        close={() => showDeliveries('')}
        size="xl"
      >
        {shown && <Deliveries endpoint={shown} mayNot={mayNotChange(place, shown)} />}
      </Dialog>
    </>
  );
};

const NoEndpoints = ({ add }: { add: ReactNode }) => (
  <EmptyState icon="link" title="Alerts are sent nowhere yet">
    <p>
      An endpoint is where alerts are sent to: a webhook of yours, Slack, Teams, PagerDuty, Opsgenie,
      Alertmanager or e-mail.
    </p>
    {add}
  </EmptyState>
);
