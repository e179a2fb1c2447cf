import type {
  NotificationFormat,
  NotificationPreview,
} from '../../../../schemas/api/insight/notifications.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { exampleNotice } from '../formats/example-notice.ts';
import { renderMessage } from '../formats/render-message.ts';
import { readPlace } from './place-queries.ts';

export async function renderPreview(
  { db, clock, services }: Context,
  teamId: string,
  format: NotificationFormat,
): Promise<NotificationPreview> {
  const now = new Date(clock.now());
  const place = await readPlace(db, { teamId, environmentId: null });
  const rendered = renderMessage(format, {
    ...{ id: 'msg_example', kind: 'firing', total: 1, open: 1, renderedAt: now, baseUrl: services.baseUrl },
    notices: [exampleNotice({ ...place, eventId: 'example-event', at: now })],
  });
  if (rendered.type === 'email')
    return { contentType: 'text/plain', subject: rendered.subject, body: rendered.text };
  const body = JSON.stringify(JSON.parse(rendered.body), null, 2);
  return { contentType: 'application/json', subject: null, body };
}
