/** What each format makes of a message, also of names that were chosen with care. */
import { expect } from 'chai';
import { exampleNotice } from '../../../controller/insight/notifications/formats/example-notice.ts';
import type { Message, Rendered } from '../../../controller/insight/notifications/formats/message.ts';
import { renderMessage } from '../../../controller/insight/notifications/formats/render-message.ts';
import type { AlertNotice } from '../../../controller/insight/notifications/index.ts';
import type { NotificationFormat } from '../../../schemas/api/insight/notifications.ts';
import { ENDPOINT_FORMATS } from '../../../schemas/manifests/webhook-endpoint.ts';

const AT = new Date('2026-11-28T09:30:00Z');
const LATER = new Date('2026-11-28T10:00:00Z');
const HOSTILE = '<!channel> [click](https://evil) & <b>"x"</b> *bold*\r\nBcc: all@example.org';

const notice = (more: Partial<AlertNotice> = {}): AlertNotice => ({
  ...exampleNotice({
    ...{ eventId: 'event', at: AT, team: { id: 't', name: 'Platform' } },
    environment: { id: 'env', name: 'production' },
  }),
  ...more,
});
const message = (more: Partial<Message> = {}): Message => ({
  ...{ id: 'msg_1', kind: 'firing', notices: [notice()], total: 1, open: 1 },
  ...{ renderedAt: AT, baseUrl: 'https://headgate.example.com' },
  ...more,
});
const many = (count: number, listed: number): Partial<Message> => ({
  total: count,
  open: count,
  notices: Array.from({ length: listed }, (_, at) =>
    notice({ eventId: `event-${at}`, node: { id: `n${at}`, name: `edge-${at}`, labels: {} } }),
  ),
});
const http = (format: NotificationFormat, given: Message) => {
  const rendered = renderMessage(format, given);
  if (rendered.type !== 'http') throw new Error('an e-mail');
  // biome-ignore lint/suspicious/noExplicitAny: each format has its own shape, which these cases are about.
  return { ...rendered, json: JSON.parse(rendered.body) as any };
};
const email = (given: Message): Extract<Rendered, { type: 'email' }> => {
  const rendered = renderMessage('email', given);
  if (rendered.type !== 'email') throw new Error('no e-mail');
  return rendered;
};
const LINK = 'https://headgate.example.com/e/env/alerts?event=event';

describe('the formats of notifications', () => {
  it('are pure: the same message gives the same bytes', () => {
    for (const format of ENDPOINT_FORMATS)
      expect(renderMessage(format, message()), format).to.deep.equal(renderMessage(format, message()));
  });

  it('standard: a test has the type of a test', () => {
    expect(http('standard', message({ kind: 'test' })).json).to.include({ type: 'test' });
  });

  it('standard: several alerts are the first of them, all in a list, and their number', () => {
    const { data } = http('standard', message(many(150, 100))).json;
    expect([data.eventId, data.events.length, data.total]).to.deep.equal(['event-0', 100, 150]);
  });

  it('slack: escapes what would mention, link or format', () => {
    const { json } = http('slack', message({ notices: [notice({ ruleName: HOSTILE, message: HOSTILE })] }));
    const text = JSON.stringify(json);
    expect(text).to.include('&lt;!channel&gt;').and.not.include('<!channel>').and.not.include('<b>');
    expect(json.text).to.match(/^Firing: &lt;!channel&gt; .* in production$/);
    expect(text).to.include(`<${LINK}|Open in Headgate>`);
  });

  it('slack: stays below the limits of a section, and says how many are left out', () => {
    const long = notice({ message: '&'.repeat(2_000) });
    const { json } = http('slack', message({ total: 500, notices: Array(100).fill(long) }));
    for (const { text } of json.blocks) expect(text?.text.length ?? 0).to.be.below(3_000);
    expect(json.blocks[1].text.text).to.match(/and \d+ more$/);
  });

  it('teams: is an adaptive card in an envelope, in which no name becomes a link', () => {
    const { json } = http('teams', message({ notices: [notice({ message: HOSTILE })] }));
    const [{ contentType, content }] = json.attachments;
    expect([json.type, contentType, content.type]).to.deep.equal([
      'message',
      'application/vnd.microsoft.card.adaptive',
      'AdaptiveCard',
    ]);
    expect(content.body[1].text).to.include('\\[click\\](https://evil)').and.not.include('\n');
    expect(content.actions).to.deep.equal([{ type: 'Action.OpenUrl', title: 'Open in Headgate', url: LINK }]);
    expect(http('teams', message(many(1_000, 100))).body.length).to.be.below(28_000);
  });

  it('pagerduty: one incident per rule, open as long as any of its alerts is', () => {
    const firing = http('pagerduty', message()).json;
    expect(firing).to.include({ event_action: 'trigger', dedup_key: 'headgate-example-rule' });
    expect(firing.payload).to.include({
      ...{ summary: 'Firing: Busy CPU in production', source: 'edge-1', severity: 'error' },
      ...{ timestamp: AT.toISOString(), component: 'cpu_usage', group: 'production', class: 'cpu_usage' },
    });
    const some = http('pagerduty', message({ kind: 'resolved', open: 2 })).json;
    expect([some.event_action, some.payload.summary]).to.deep.equal([
      'trigger',
      'Resolved: Busy CPU in production; 2 still firing',
    ]);
    expect(http('pagerduty', message({ kind: 'resolved', open: 0 })).json).to.deep.equal({
      event_action: 'resolve',
      dedup_key: 'headgate-example-rule',
    });
    const test = http('pagerduty', message({ kind: 'test', open: 0 })).json;
    expect([test.dedup_key, test.payload.severity]).to.deep.equal(['headgate-test-msg_1', 'info']);
  });

  it('opsgenie: is created and closed by alias, within the limits of its fields', () => {
    const long = notice({ ruleName: 'r'.repeat(300), message: 'm'.repeat(20_000) });
    const { json, path } = http('opsgenie', message({ notices: [long] }));
    expect([path, json.alias, json.priority]).to.deep.equal([undefined, 'headgate-example-rule', 'P3']);
    expect(json.message).to.have.length(130);
    expect(json.description.length).to.equal(15_000);
    const closed = http('opsgenie', message({ kind: 'resolved', open: 0 }));
    expect(closed.path).to.equal('/headgate-example-rule/close?identifierType=alias');
  });

  it('alertmanager: each alert with an end, ahead while it fires', () => {
    const [alert] = http('alertmanager', message({ renderedAt: LATER })).json;
    expect(alert).to.deep.equal({
      labels: {
        ...{ alertname: 'Busy CPU', environment: 'production', team: 'Platform', metric: 'cpu_usage' },
        ...{ node: 'edge-1', node_id: 'example-node' },
      },
      annotations: {
        summary: 'CPU usage is 97.5 %, above 90 % for 60 s',
        description: 'CPU usage is 97.5 %, above 90 % for 60 s',
      },
      startsAt: AT.toISOString(),
      endsAt: '2026-11-28T14:00:00.000Z',
      generatorURL: LINK,
    });
    const resolved = notice({ status: 'resolved', at: LATER });
    const [ended] = http('alertmanager', message({ kind: 'resolved', notices: [resolved] })).json;
    expect([ended.startsAt, ended.endsAt, ended.labels]).to.deep.equal([
      AT.toISOString(),
      LATER.toISOString(),
      alert.labels,
    ]);
  });

  it('email: no name ends the subject or becomes markup', () => {
    const { subject, text, html } = email(message({ notices: [notice({ ruleName: HOSTILE })] }));
    expect(subject).to.match(/^\[Headgate\] Firing: <!channel> .* Bcc: all@example\.org in production$/);
    expect(subject).to.not.match(/[\r\n]/);
    expect(text).to.include(LINK);
    expect(html).to.include('&lt;b&gt;&quot;x&quot;&lt;/b&gt;').and.not.include('<b>');
  });

  it('have room for a hundred alerts in an e-mail, and count the rest', () => {
    const { text } = email(message(many(1_000, 100)));
    expect(text.match(/^- .*node edge-/gm)).to.have.length(100);
    expect(text).to.include('- and 900 more');
  });
});
