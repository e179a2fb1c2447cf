/** E-mail, by a real mail server: with and without passwords and TLS, and what it rejects. */

import { expect } from 'chai';
import { endpointDeliveryOperations } from '../../../controller/insight/notifications/index.ts';
import { createMailer } from '../../../controller/platform/net/mail/mailer.ts';
import type { SmtpConfig } from '../../../controller/platform/net/mail/smtp-config.ts';
import { logInto } from '../../support/harness/recorded-log.ts';
import { HOUR, MINUTE, SECOND, useNotificationScene } from '../../support/scenes/notifications.ts';
import { SmtpReceiver, type SmtpReceiverOptions } from '../../support/servers/smtp-receiver.ts';

const CREDENTIALS = { user: 'headgate', password: 'hunter2-of-the-mail' };

describe('a notification by e-mail', () => {
  const scene = useNotificationScene();
  const servers: SmtpReceiver[] = [];
  let log = '';
  afterEach(async () => {
    scene.scene.services.mailer = null;
    for (const server of servers.splice(0)) await server.close();
    expect(log).to.not.include(CREDENTIALS.password);
  });

  const serve = async (options: SmtpReceiverOptions = {}, more: Partial<SmtpConfig> = {}) => {
    const server = await SmtpReceiver.start(options);
    servers.push(server);
    scene.scene.services.mailer = createMailer({
      smtp: server.config(more),
      log: logInto('debug', (text) => (log += text)),
    });
    return server;
  };
  const test = async (url = 'mailto:on-call@example.org') => {
    const { id } = await scene.teamEndpoint(url);
    return scene.scene.execute(endpointDeliveryOperations.testDelivery, scene.context(), {
      ...{ id, teamId: scene.teamId },
    });
  };

  it('is refused where the operator has named no mail server, and says what to set', async () => {
    const error = await scene.teamEndpoint('mailto:on-call@example.org').catch((thrown: Error) => thrown);
    expect(error).to.include({ code: 'PRECONDITION_FAILED' });
    expect((error as Error).message).to.include('HEADGATE_SMTP_URL');
  });

  it('arrives as text and HTML, with one Message-ID for every try', async () => {
    const server = await serve();
    server.refuseData = 451;
    const { id, secret, format } = await scene.teamEndpoint('mailto:on-call@example.org,lead@example.org');
    expect([secret, format]).to.deep.equal([null, 'email']);
    const loop = await scene.loop();
    await scene.enqueue(scene.notice({ ruleName: 'Node is down\r\nBcc: everybody@example.org' }));
    await scene.advance(loop, 15 * SECOND);
    expect((await scene.deliveries(id))[0]).to.include({ state: 'waiting', last_status: 451 });
    server.refuseData = null;
    await scene.advance(loop, 10 * SECOND);
    const [row] = await scene.deliveries(id);
    expect(row).to.include({ state: 'delivered', attempts: 2 });
    const [mail] = server.mails;
    expect([mail?.from, mail?.to]).to.deep.equal([
      'headgate@example.com',
      ['on-call@example.org', 'lead@example.org'],
    ]);
    const headers = mail?.headers ?? [];
    expect(headers).to.include(`Message-ID: <${row?.id}@example.com>`);
    expect(headers).to.include(
      'Subject: [Headgate] Firing: Node is down Bcc: everybody@example.org in production',
    );
    expect(headers.some((line) => /^bcc:/i.test(line))).to.equal(false);
    expect(headers.join('\n')).to.match(/^Content-Type: multipart\/alternative;/m);
    expect(mail?.text).to.include('edge-1 is unreachable for 60 s').and.include('<li>edge-1');
    expect(mail?.isEncrypted, 'where the server offers it').to.equal(true);
  });

  it('is sent over TLS with a password, from the start or by STARTTLS', async () => {
    for (const secure of [true, false]) {
      const server = await serve({ secure, credentials: CREDENTIALS });
      expect(await test()).to.include({ state: 'delivered', error: null });
      expect(server.mails[0]).to.include({ user: 'headgate', isEncrypted: true });
    }
  });

  it('gives no password away where there is no TLS, or none that is trusted', async () => {
    const plain = await serve({ plain: true, credentials: CREDENTIALS });
    const untrusted = { caCertificate: null };
    expect((await test()).error).to.match(/^no secure connection to the mail server can be made/);
    const selfSigned = await serve({ secure: true, credentials: CREDENTIALS }, untrusted);
    expect((await test()).error).to.match(/^no secure connection|cannot be reached/);
    const upgraded = await serve({ credentials: CREDENTIALS }, untrusted);
    expect((await test()).error).to.match(/^no secure connection|cannot be reached/);
    expect([plain, selfSigned, upgraded].flatMap(({ mails }) => mails)).to.deep.equal([]);
  });

  it('waits where the password is wrong, which the operator has to repair', async () => {
    await serve({ credentials: CREDENTIALS }, { credentials: { user: 'headgate', password: 'wrong' } });
    const { id } = await scene.teamEndpoint('mailto:on-call@example.org');
    const loop = await scene.loop();
    await scene.enqueue(scene.notice());
    await scene.advance(loop, 15 * SECOND);
    const [row] = await scene.deliveries(id);
    expect(row).to.include({ state: 'waiting', last_status: 535 });
    expect(row?.last_error).to.equal(
      'the mail server refuses the user name or the password of HEADGATE_SMTP_URL (SMTP 535)',
    );
  });

  it('is given up where the server rejects everybody for good, and notes whom it rejects of several', async () => {
    const server = await serve();
    server.refuse = (address) => (address.startsWith('gone') ? 550 : null);
    const { id } = await scene.teamEndpoint('mailto:gone@example.org');
    const loop = await scene.loop();
    await scene.enqueue(scene.notice());
    await scene.advance(loop, HOUR, MINUTE);
    expect((await scene.deliveries(id))[0]).to.include({ state: 'failed', attempts: 1, last_status: 550 });
    expect(await test('mailto:gone@example.org,on-call@example.org')).to.include({
      state: 'delivered',
      error: 'the mail server rejects gone@example.org',
    });
    expect(server.mails[0]?.to).to.deep.equal(['on-call@example.org']);
  });

  it('waits where nothing answers', async () => {
    const server = await serve();
    await server.close();
    servers.length = 0;
    const outcome = await test();
    expect(outcome).to.include({ state: 'failed', responseStatus: null });
    expect(outcome.error).to.equal('the mail server of HEADGATE_SMTP_URL cannot be reached');
  });
});
