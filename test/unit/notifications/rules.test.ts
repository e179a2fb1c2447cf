/** Headers, secrets, addresses and pauses: what is taken, what is refused, and why. */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { groupNotices, runsOf } from '../../../controller/insight/notifications/deliveries/groups.ts';
import { messageRequest } from '../../../controller/insight/notifications/deliveries/request.ts';
import {
  delayAfter,
  isFinalStatus,
  readRetryAfter,
} from '../../../controller/insight/notifications/deliveries/retries.ts';
import { assertHeaders } from '../../../controller/insight/notifications/endpoints/headers.ts';
import { readMailto } from '../../../controller/insight/notifications/endpoints/mail-addresses.ts';
import { maskedUrl } from '../../../controller/insight/notifications/endpoints/masked-url.ts';
import {
  assertSigningSecret,
  signatureHeaders,
  signingKey,
} from '../../../controller/insight/notifications/endpoints/signing.ts';
import {
  assertTarget,
  type EndpointTarget,
} from '../../../controller/insight/notifications/endpoints/target.ts';
import { exampleNotice } from '../../../controller/insight/notifications/formats/example-notice.ts';
import type { NotificationFormat } from '../../../schemas/api/insight/notifications.ts';

describe('the parts of an endpoint', () => {
  it('take headers that receivers ask for', () => {
    assertHeaders({ Authorization: 'Bearer x', 'X-Scope-OrgID': 'team-1', Accept: '' });
  });

  for (const name of [
    ...[
      'Host',
      'content-length',
      'Connection',
      'Keep-Alive',
      'Transfer-Encoding',
      'TE',
      'Trailer',
      'Upgrade',
    ],
    ...['Proxy-Authorization', 'Content-Type', 'Expect', 'User-Agent'],
    ...['Webhook-Id', 'webhook-timestamp', 'WEBHOOK-SIGNATURE', 'X-Svc-Signature'],
  ])
    it(`refuse the header ${name}`, () => {
      expect(() => assertHeaders({ [name]: 'x' })).to.throw(`"${name}" is set by Headgate`);
    });

  it('refuse values that begin another header, and do not quote them', () => {
    for (const value of ['a\r\nb: c', 'a\nb', 'a\0b', 'ü'])
      expect(() => assertHeaders({ 'X-Key': value }))
        .to.throw('the value of "X-Key" must be visible ASCII')
        .with.property('message')
        .that.does.not.include(value);
    expect(() => assertHeaders({ 'X-Key': 'a', 'x-key': 'b' })).to.throw('given twice');
  });

  it('read secrets as base64 behind whsec_, and as they are otherwise', () => {
    const bytes = Buffer.from('0123456789abcdef');
    expect(signingKey(`whsec_${bytes.toString('base64')}`)).to.deep.equal(bytes);
    expect(signingKey(`whsec_${bytes.toString('base64').replace(/=+$/, '')}`)).to.deep.equal(bytes);
    expect(signingKey('correct horse ü')).to.deep.equal(Buffer.from('correct horse ü'));
    for (const secret of ['whsec_', 'whsec_!!!!!!!!', 'whsec_YWJj', 'whsec_a b c d e f g h'])
      expect(() => assertSigningSecret(secret), secret).to.throw('must go on with the base64');
    assertSigningSecret('8 or more');
  });

  it('sign for an environment over the time and the body, with both secrets while they overlap', () => {
    const at = new Date(1_764_322_200_900);
    const signed = { id: 'msg_1', body: '{"a":1}', at, secrets: ['new secret', 'old secret'] };
    const headers = signatureHeaders({ ...signed, isOfEnvironment: true });
    const hex = (key: string) => createHmac('sha256', key).update('1764322200.{"a":1}').digest('hex');
    expect(headers['X-Svc-Signature']).to.equal(
      `t=1764322200,v1=${hex('new secret')},v1=${hex('old secret')}`,
    );
    expect(headers['webhook-signature']?.split(' ')).to.have.length(2);
    expect(signatureHeaders({ ...signed, secrets: [], isOfEnvironment: true })).to.have.all.keys(
      'webhook-id',
      'webhook-timestamp',
    );
  });

  it('read one or several addresses of a mailto: URL', () => {
    expect(readMailto('mailto:a@b.example')).to.deep.equal(['a@b.example']);
    expect(readMailto('MAILTO:a%2Bx@b.example,c@d.example')).to.deep.equal(['a+x@b.example', 'c@d.example']);
  });

  for (const url of [
    ...['mailto:', 'mailto:a', 'mailto:a@b?subject=x', 'mailto:a@b.example,', 'mailto:a@-b.example'],
    ...['mailto:a@b.example%0D%0ABcc:c@d.example', 'mailto:"a b"@c.example', 'mailto:<a@b.example>'],
    `mailto:${Array(21).fill('a@b.example').join()}`,
  ])
    it(`refuse ${url.slice(0, 60)}`, () => {
      expect(() => readMailto(url)).to.throw(/is not an e-mail address|at most 20 addresses/);
    });

  const target = (format: NotificationFormat, more: Partial<EndpointTarget> = {}): EndpointTarget => ({
    ...{ format, url: 'https://example.org/x', secret: null, headers: {} },
    ...more,
  });
  const WRONG: [EndpointTarget, RegExp][] = [
    [target('pagerduty'), /format pagerduty needs one: the integration key/],
    [target('opsgenie'), /format opsgenie needs one: the API key/],
    [target('opsgenie', { secret: 'a key of eight' }), /no blanks/],
    [
      target('opsgenie', { secret: 'a-key-it-is', headers: { authorization: 'x' } }),
      /"Authorization" carries/,
    ],
    [target('slack', { secret: 'a secret' }), /slack are not signed/],
    [target('alertmanager', { secret: 'a secret' }), /alertmanager are not signed/],
    [target('email'), /needs a mailto: URL/],
    [target('standard', { url: 'mailto:a@b.example' }), /for the format email, not standard/],
    [target('email', { url: 'mailto:a@b.example', headers: { a: 'b' } }), /an e-mail takes none/],
  ];
  for (const [wrong, says] of WRONG)
    it(`refuse what does not fit: ${says.source}`, () => {
      expect(() => assertTarget(wrong)).to.throw(says);
    });

  it('show viewers no more of an address than they need', () => {
    expect(maskedUrl('slack', 'https://hooks.slack.com/services/T0/B0/secret1a2B')).to.equal(
      'https://hooks.slack.com/…1a2B',
    );
    expect(maskedUrl('standard', 'https://example.org/hook?token=secret')).to.equal(
      'https://example.org/hook?…',
    );
    expect(maskedUrl('standard', 'https://example.org/hook')).to.equal('https://example.org/hook');
    expect(maskedUrl('email', 'mailto:a@b.example')).to.equal('mailto:a@b.example');
  });
});

describe('the pauses between tries', () => {
  it('are 10 s, 1 min, 5 min, 30 min and 2 h, less a random part', () => {
    const most = [1, 2, 3, 4, 5, 6].map((attempts) => delayAfter(attempts, null, () => 1));
    expect(most).to.deep.equal([10_000, 60_000, 300_000, 1_800_000, 7_200_000, null]);
    expect(delayAfter(2, null, () => 0)).to.equal(30_000);
  });

  it('are as long as the receiver asks for, up to an hour', () => {
    expect(delayAfter(1, 90_000)).to.equal(90_000);
    expect(delayAfter(1, 86_400_000)).to.equal(3_600_000);
    expect(delayAfter(5, 1_000, () => 1)).to.equal(7_200_000);
    const now = Date.parse('2026-11-28T09:30:00Z');
    expect(readRetryAfter('120', now)).to.equal(120_000);
    expect(readRetryAfter('Sat, 28 Nov 2026 09:31:00 GMT', now)).to.equal(60_000);
    for (const value of [null, '', '-1', '1.5', 'soon', '9'.repeat(30)])
      expect(readRetryAfter(value, now), String(value)).to.equal(null);
  });

  it('end with answers that another try would not change', () => {
    expect([400, 401, 403, 404, 410, 422].every(isFinalStatus)).to.equal(true);
    expect([408, 425, 429, 500, 502, 503, 302, 600].some(isFinalStatus)).to.equal(false);
  });
});

describe('the request of a message', () => {
  const secrets = { url: 'https://example.org/base/', secret: 'key-of-8', previousSecret: null, headers: {} };
  const request = (format: NotificationFormat, path?: string, url = secrets.url) =>
    messageRequest({
      ...{ deliveryId: 'msg_1', format, secrets: { ...secrets, url, headers: { 'X-A': 'b' } } },
      rendered: { type: 'http', body: '{"a":1}', ...(path ? { path } : {}) },
      ...{ previousSecretUntil: null, isOfEnvironment: false, at: new Date(0) },
    });

  it('adds the key of an incident service where it belongs, and follows no redirect with it', () => {
    const pagerDuty = request('pagerduty');
    expect(JSON.parse(pagerDuty.body)).to.deep.equal({ routing_key: 'key-of-8', a: 1 });
    expect(pagerDuty.redirects).to.equal(0);
    expect(request('opsgenie').headers.Authorization).to.equal('GenieKey key-of-8');
    expect(request('opsgenie').secretHeaders).to.deep.equal(['X-A', 'Authorization']);
  });

  it('goes to the address of each interface', () => {
    expect(request('opsgenie', '/alias/close?identifierType=alias').url).to.equal(
      'https://example.org/base/alias/close?identifierType=alias',
    );
    expect(request('alertmanager').url).to.equal('https://example.org/base/api/v2/alerts');
    expect(request('alertmanager', undefined, 'https://am/api/v2/alerts').url).to.equal(
      'https://am/api/v2/alerts',
    );
    expect(request('standard').url).to.equal(secrets.url);
  });
});

describe('the groups of notices', () => {
  const notice = (eventId: string, more = {}) => ({
    ...exampleNotice({
      ...{ eventId, at: new Date(0), team: { id: 't', name: 'T' }, environment: { id: 'e', name: 'E' } },
    }),
    ...more,
  });

  it('are of one rule and one status, for the endpoints that want them', () => {
    const subscribers = [
      { id: 'team', teamId: 't', environmentId: null, eventTypes: ['cpu_usage'] },
      { id: 'environment', teamId: null, environmentId: 'e', eventTypes: [] },
      { id: 'other', teamId: null, environmentId: 'f', eventTypes: [] },
    ];
    const groups = groupNotices(
      [
        notice('a'),
        notice('b', { status: 'resolved' }),
        notice('c', { metric: 'disk_usage', ruleId: 'd' }),
        notice('d'),
      ],
      subscribers,
    );
    expect(
      groups.map(({ endpointIds, ruleId, status, notices }) =>
        [...endpointIds, ruleId, status, ...notices.map(({ eventId }) => eventId)].join(' '),
      ),
    ).to.deep.equal([
      'environment team example-rule firing a d',
      'environment team example-rule resolved b',
      'environment d firing c',
    ]);
  });

  it('are made of runs in which each event occurs once', () => {
    const runs = runsOf(['a', 'b', 'a', 'c', 'a'].map((id) => notice(id)));
    expect(runs.map((run) => run.map(({ eventId }) => eventId).join(''))).to.deep.equal(['ab', 'ac', 'a']);
  });
});
