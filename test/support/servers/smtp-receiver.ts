/** A real mail server that keeps what it is sent. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { SmtpConfig } from '../../../controller/platform/net/mail/smtp-config.ts';
import { AUTHORITY, LEAF, LEAF_KEY } from '../fixtures/certificates.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Header lines are unfolded. */
  headers: string[];
  text: string;
  user: string | undefined;
  isEncrypted: boolean;
}

export interface SmtpReceiverOptions {
  /** TLS from the first byte. */
  secure?: boolean;
  /** Offers no STARTTLS. */
  plain?: boolean;
  credentials?: { user: string; password: string };
}

export class SmtpReceiver {
  readonly mails: ReceivedMail[] = [];
  /** Answers a code that refuses a recipient, or null. */
  refuse: (address: string) => number | null = () => null;
  /** Answers a code that refuses every message, or null. */
  refuseData: number | null = null;
  readonly #server: SMTPServer;
  readonly #options: SmtpReceiverOptions;

  private constructor(options: SmtpReceiverOptions) {
    this.#options = options;
    const { credentials } = options;
    const handlers: SMTPServerOptions = {
      onAuth: ({ username, password }, _session, done) => {
        const isRight = username === credentials?.user && password === credentials?.password;
        if (isRight) done(null, { user: username });
        else done(new Error('Invalid username or password'));
      },
      onRcptTo: ({ address }, _session, done) => {
        const code = this.refuse(address);
        if (code === null) done();
        else done(Object.assign(new Error('no such mailbox'), { responseCode: code }));
      },
      onData: (stream, { envelope, user, secure }, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          if (this.refuseData !== null) {
            done(Object.assign(new Error('not now'), { responseCode: this.refuseData }));
            return;
          }
          const text = Buffer.concat(chunks).toString();
          const [head = ''] = text.split('\r\n\r\n');
          this.mails.push({
            from: envelope.mailFrom ? envelope.mailFrom.address : '',
            to: envelope.rcptTo.map(({ address }) => address),
            headers: head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n'),
            text,
            user,
            isEncrypted: secure,
          });
          done();
        });
      },
    };
    this.#server = new SMTPServer({
      ...handlers,
      ...{ secure: options.secure ?? false, key: LEAF_KEY, cert: LEAF, closeTimeout: 100 },
      disabledCommands: [...(options.plain ? ['STARTTLS'] : []), ...(credentials ? [] : ['AUTH'])],
      authOptional: !credentials,
      // A client that gives its password in the clear is to be seen.
      allowInsecureAuth: true,
    });
    this.#server.on('error', () => {});
  }

  static async start(options: SmtpReceiverOptions = {}): Promise<SmtpReceiver> {
    const receiver = new SmtpReceiver(options);
    const listening = receiver.#server.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    return receiver;
  }

  config(more: Partial<SmtpConfig> = {}): SmtpConfig {
    return {
      ...{ host: '127.0.0.1', port: (this.#server.server.address() as AddressInfo).port },
      isSecure: this.#options.secure ?? false,
      credentials: this.#options.credentials ?? null,
      ...{ from: 'Headgate <headgate@example.com>', caCertificate: AUTHORITY },
      ...more,
    };
  }

  close(): Promise<void> {
    return new Promise((done) => this.#server.close(() => done()));
  }
}
