/** The mail server for alerts by e-mail. */
import { readFileSync } from 'node:fs';
import { readSmtpConfig, type SmtpConfig } from '../platform/net/mail/smtp-config.ts';
import { ConfigError, type Environment, type Variable } from './values.ts';

export interface MailConfig {
  /** Sends the e-mail of notifications; null: there is none. */
  smtp: SmtpConfig | null;
}

export const MAIL_VARIABLES: readonly Variable[] = [
  {
    name: 'HEADGATE_SMTP_URL',
    default: '(none)',
    help: 'mail server for alerts by e-mail: smtps://user:password@host, or smtp:// with STARTTLS; see docs/notifications.md',
  },
  { name: 'HEADGATE_SMTP_FROM', default: '(none)', help: 'address that these e-mails come from' },
  {
    name: 'HEADGATE_SMTP_CA_FILE',
    default: '(none)',
    help: 'PEM file of authorities that sign the certificate of the mail server',
  },
];

export const readMailConfig = (env: Environment): MailConfig => ({ smtp: smtp(env) });

function smtp(env: Environment): SmtpConfig | null {
  const { HEADGATE_SMTP_URL: address, HEADGATE_SMTP_FROM: from, HEADGATE_SMTP_CA_FILE: file } = env;
  if (!address) {
    if (from || file) throw new ConfigError('HEADGATE_SMTP_… needs HEADGATE_SMTP_URL');
    return null;
  }
  const read = readSmtpConfig(address, from, file ? authorities(file) : null);
  if ('wrong' in read) throw new ConfigError(read.wrong);
  return read;
}

function authorities(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch {
    // The same sentence serves both.
  }
  throw new ConfigError(`HEADGATE_SMTP_CA_FILE: ${file} is not a PEM file of certificates`);
}
