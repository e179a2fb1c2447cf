/** Renders a message in the format of its endpoint. Pure: the same message gives the same bytes. */
import type { NotificationFormat } from '../../../../schemas/api/insight/notifications.ts';
import { renderAlertmanager } from './alertmanager.ts';
import { renderEmail } from './email.ts';
import type { Message, Rendered } from './message.ts';
import { renderOpsgenie } from './opsgenie.ts';
import { renderPagerDuty } from './pagerduty.ts';
import { renderSlack } from './slack.ts';
import { renderStandard } from './standard.ts';
import { renderTeams } from './teams.ts';

const RENDERERS: Readonly<Record<NotificationFormat, (message: Message) => Rendered>> = {
  standard: renderStandard,
  slack: renderSlack,
  teams: renderTeams,
  pagerduty: renderPagerDuty,
  opsgenie: renderOpsgenie,
  alertmanager: renderAlertmanager,
  email: renderEmail,
};

export const renderMessage = (format: NotificationFormat, message: Message): Rendered =>
  RENDERERS[format](message);
