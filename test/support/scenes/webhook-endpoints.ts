/** Endpoints of two teams over the API of a real controller, and the receiver that they lead to. */
import { Webhook } from 'standardwebhooks';
import type {
  CreatedWebhookEndpoint,
  NotificationDelivery,
  WebhookEndpoint,
} from '../../../schemas/api/insight/notifications.ts';
import type { TestController } from '../harness/controller.ts';
import { useEach } from '../harness/use.ts';
import { type ReceivedMessage, WebhookReceiver } from '../servers/webhook-receiver.ts';
import type { TwoTeams } from './two-teams.ts';

export const verifyBody = (secret: string | null, { body, headers }: ReceivedMessage): unknown =>
  new Webhook(secret ?? '').verify(body, headers as Record<string, string>);

export const useReceiver = () =>
  useEach(
    () => WebhookReceiver.start(),
    (one) => one.close(),
  );

/** Deletes all endpoints after each case. */
export function useEndpoints(test: TestController, teams: TwoTeams, receiver: WebhookReceiver) {
  afterEach(async () => {
    await test.db('webhook_endpoints').delete();
  });
  return {
    create: (more: object = {}) =>
      teams.admin.mutate<CreatedWebhookEndpoint>('webhookEndpoint.create', {
        ...{ teamId: teams.ours.teamId, name: 'On call', url: receiver.url },
        ...{ eventTypes: ['node_unreachable'], ...more },
      }),
    createWebhook: (more: object = {}) =>
      teams.editor.mutate<WebhookEndpoint>('alert.createWebhook', {
        ...{ environmentId: teams.ours.environmentId, url: receiver.url },
        ...more,
      }),
    testOf: (id: string) =>
      teams.admin.mutate<NotificationDelivery>('webhookEndpoint.testDelivery', {
        ...{ id, teamId: teams.ours.teamId },
      }),
    faultOf: async (name: string, input: object) => {
      const { status, fault } = await teams.admin.call('mutation', name, input);
      return `${status} ${fault?.message}`;
    },
  };
}
