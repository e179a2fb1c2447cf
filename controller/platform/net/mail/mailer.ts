/** Sends e-mail over the mail server that the operator has named. A connection per message. */
import type { Logger } from '../../runtime/logger.ts';
import { secureContextWith } from '../certificate-authorities.ts';
import type { SmtpConfig } from './smtp-config.ts';

export interface Mail {
  /** Makes the Message-ID: the same for every try. */
  id: string;
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
  signal: AbortSignal;
}

export interface Mailer {
  /** Answers the recipients that the server rejected while it took the message for the others. @throws MailError */
  send(mail: Mail): Promise<{ rejected: string[] }>;
}

/** The message is for users: it quotes neither the server nor the credentials. */
export class MailError extends Error {
  override readonly name = 'MailError';
  /** Of SMTP, where the server answered. */
  readonly status: number | null;
  /** The server rejected this message for good (RFC 5321, 4.2.1). */
  readonly isFinal: boolean;
  constructor(message: string, status: number | null, isFinal: boolean) {
    super(message);
    this.status = status;
    this.isFinal = isFinal;
  }
}

declare module '../../operation/context.ts' {
  interface Services {
    /** Null where the operator has named no mail server. */
    mailer: Mailer | null;
  }
}

const CONNECT_MS = 10_000;
const SILENCE_MS = 15_000;

export function createMailer({ smtp, log }: { smtp: SmtpConfig; log: Logger }): Mailer {
  const { host, port, isSecure, credentials, from } = smtp;
  const domain = from.slice(from.lastIndexOf('@') + 1).replace('>', '');
  const options = {
    ...{ host, port, secure: isSecure },
    ...(credentials ? { auth: { user: credentials.user, pass: credentials.password } } : {}),
    // A password never travels in the clear.
    requireTLS: credentials !== null,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    tls: { secureContext: secureContextWith(smtp.caCertificate) },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  return {
    async send({ id, to, subject, text, html, signal }) {
      // What sends no mail does not load it: commands start sooner.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport(options);
      const abort = () => transport.close();
      signal.addEventListener('abort', abort, { once: true });
      try {
        const info = await untilAborted(
          signal,
          transport.sendMail({
            ...{ from, subject, text, html, to: [...to] },
            messageId: `<${id}@${domain}>`,
            headers: { 'auto-submitted': 'auto-generated' },
          }),
        );
        return { rejected: info.rejected.map(String) };
      } catch (error) {
        const failure = failureOf(error);
        log.debug(
          { host, reason: (error as { code?: unknown }).code, status: failure.status },
          'no mail sent',
        );
        throw failure;
      } finally {
        signal.removeEventListener('abort', abort);
        transport.close();
      }
    },
  };
}

/** What is under way ends by the time-outs of its connection. */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(Object.assign(new Error('aborted'), { code: 'ETIMEDOUT' }));
    if (signal.aborted) late();
    signal.addEventListener('abort', late, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', late));
  });
}

const SENTENCES: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server refuses the user name or the password of HEADGATE_SMTP_URL',
  ENOAUTH: 'the mail server asks for a user name and a password, which HEADGATE_SMTP_URL lacks',
  ETLS: 'no secure connection to the mail server can be made: it offers none, or its certificate is not trusted',
  ETIMEDOUT: 'the mail server does not answer in time',
  EDNS: 'the name of the mail server is not known',
  EENVELOPE: 'the mail server rejects the sender or every recipient',
  EMESSAGE: 'the mail server rejects the message',
};

function failureOf(error: unknown): MailError {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const status = typeof responseCode === 'number' ? responseCode : null;
  const key = String(code);
  const sentence = SENTENCES[key] ?? 'the mail server of HEADGATE_SMTP_URL cannot be reached';
  // Bad credentials are the operator's to repair, while the message waits.
  const isFinal = status !== null && status >= 500 && (key === 'EENVELOPE' || key === 'EMESSAGE');
  return new MailError(status === null ? sentence : `${sentence} (SMTP ${status})`, status, isFinal);
}
