import { Group, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { NotificationDelivery, WebhookEndpoint } from '../../../../schemas/api/insight/notifications.ts';
import { queries } from '../../api/queries/index.ts';
import { Notice } from '../../ui/feedback/notice.tsx';
import { EmptyState, InlineError, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { useReportedMutation } from '../../ui/form/reported-mutation.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { plural } from '../../ui/text/format.ts';
import { redeliver, renewEndpoints, sendTest } from './endpoint-calls.ts';
import { deliveryText, outcomeText, STATE_TEXT } from './endpoint-text.ts';

const PAGE = 20;

interface Props {
  endpoint: WebhookEndpoint;
  /** Why nothing may be sent; null where it may. */
  mayNot: string | null;
}

/** What was sent to an endpoint, the newest first, and what became of it. */
export const Deliveries = ({ endpoint, mayNot }: Props) => {
  const queryClient = useQueryClient();
  const [skip, setSkip] = useState(0);
  const deliveries = useQuery(queries.notificationDeliveries(endpoint, skip));
  const test = useReportedMutation(() => renewEndpoints(queryClient), {
    run: () => sendTest(endpoint),
    done: () => null,
  });
  return (
    <Stack gap="md">
      <Group gap="sm">
        <Button
          icon="deploy"
          disabled={mayNot !== null || test.isPending}
          tip={mayNot ?? undefined}
          onClick={() => test.mutate()}
        >
          {test.isPending ? 'Sending the test…' : 'Send a test'}
        </Button>
      </Group>
      {test.data && <TestResult delivery={test.data} />}
      {test.isError && <InlineError error={test.error} />}
      <Loaded
        query={deliveries}
        what="Deliveries"
        skeleton={<SkeletonRows rows={6} label="Loading deliveries" />}
      >
        {({ deliveries: list, total }) =>
          total === 0 ? (
            <EmptyState icon="deploy" title="Nothing was sent yet">
              <p>Send a test to see whether messages arrive. Alerts follow when a rule fires.</p>
            </EmptyState>
          ) : (
            <>
              <ul className="accounts" aria-label="Deliveries">
                {list.map((delivery) => (
                  <DeliveryRow key={delivery.id} endpoint={endpoint} delivery={delivery} mayNot={mayNot} />
                ))}
              </ul>
              <Paging skip={skip} count={list.length} total={total} setSkip={setSkip} />
            </>
          )
        }
      </Loaded>
    </Stack>
  );
};

const TestResult = ({ delivery }: { delivery: NotificationDelivery }) => {
  const isDelivered = delivery.state === 'delivered';
  return (
    <Notice tone={isDelivered ? 'ok' : 'failed'} icon={isDelivered ? 'check' : 'warning'} role="status">
      {isDelivered ? 'The test was delivered' : 'The test was not delivered'}: {outcomeText(delivery)}.
    </Notice>
  );
};

const DeliveryRow = ({ endpoint, delivery, mayNot }: Props & { delivery: NotificationDelivery }) => {
  const queryClient = useQueryClient();
  const again = useReportedMutation(() => renewEndpoints(queryClient), {
    run: () => redeliver(endpoint, delivery.id),
    done: () => 'The delivery is sent once more',
    failed: 'It was not sent once more',
  });
  const { state, attempts, createdAt, nextAttemptAt } = delivery;
  const { word, tone } = STATE_TEXT[state];
  const isFinished = state === 'delivered' || state === 'failed';
  const name = deliveryText(delivery);
  return (
    <li>
      <div className="preset-head">
        <Badge tone={tone}>{word}</Badge>
        <b className="breakable">{name}</b>
        {delivery.environmentName && <span className="muted">{delivery.environmentName}</span>}
      </div>
      <span className="breakable">{outcomeText(delivery)}</span>
      <div className="account-foot">
        <span className="muted">
          <Time at={createdAt} /> · {plural(attempts, 'try', 'tries')}
          {nextAttemptAt && (
            <>
              {' · next '}
              <Time at={nextAttemptAt} />
            </>
          )}
        </span>
        {isFinished && (
          <Button
            size="small"
            disabled={mayNot !== null || again.isPending}
            tip={mayNot ?? undefined}
            onClick={() => again.mutate()}
          >
            Send once more<span className="sr-only">: {name}</span>
          </Button>
        )}
      </div>
    </li>
  );
};

interface PagingProps {
  skip: number;
  count: number;
  total: number;
  setSkip: (skip: number) => void;
}

const Paging = ({ skip, count, total, setSkip }: PagingProps) =>
  total > PAGE && (
    <Group gap="sm" justify="flex-end">
      <span className="muted" role="status">
        {skip + 1} to {skip + count} of {total}
      </span>
      <Button size="small" disabled={skip === 0} onClick={() => setSkip(Math.max(0, skip - PAGE))}>
        Newer deliveries
      </Button>
      <Button size="small" disabled={skip + count >= total} onClick={() => setSkip(skip + PAGE)}>
        Older deliveries
      </Button>
    </Group>
  );
