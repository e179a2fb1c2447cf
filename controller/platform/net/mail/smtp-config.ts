/** The mail server of the installation, as its operator names it. */

export interface SmtpConfig {
  host: string;
  port: number;
  /** TLS from the first byte (`smtps://`). Else STARTTLS, which must be there where there is a password. */
  isSecure: boolean;
  credentials: { user: string; password: string } | null;
  /** An address, perhaps with a name: `Headgate <headgate@example.com>`. */
  from: string;
  /** PEM: authorities that are trusted beside the usual ones. */
  caCertificate: string | null;
}

const ADDRESS = String.raw`[^\s<>@,;:"\p{Cc}]{1,64}@[A-Za-z0-9.-]{1,253}`;
const FROM = new RegExp(String.raw`^(?:${ADDRESS}|[^<>@,;:"\p{Cc}]{1,100} <${ADDRESS}>)$`, 'u');

/** `wrong` is a sentence for the operator that quotes no value: it may hold the password. */
export function readSmtpConfig(
  url: string,
  from: string | undefined,
  caCertificate: string | null,
): SmtpConfig | { wrong: string } {
  const parsed = URL.parse(url);
  const example = 'must be like smtps://user:password@smtp.example.com or smtp://smtp.example.com:587';
  if (!parsed || !/^smtps?:$/.test(parsed.protocol) || parsed.hostname === '')
    return { wrong: `HEADGATE_SMTP_URL ${example}` };
  if (!/^\/?$/.test(parsed.pathname) || parsed.search !== '' || parsed.hash !== '')
    return { wrong: `HEADGATE_SMTP_URL ${example}, with nothing behind the port` };
  if ((parsed.username === '') !== (parsed.password === ''))
    return { wrong: 'HEADGATE_SMTP_URL must have a user name and a password, or neither' };
  const isSecure = parsed.protocol === 'smtps:';
  let credentials: SmtpConfig['credentials'] = null;
  try {
    const [user, password] = [decodeURIComponent(parsed.username), decodeURIComponent(parsed.password)];
    if (user !== '') credentials = { user, password };
  } catch {
    return { wrong: 'HEADGATE_SMTP_URL: write signs in the user name and password as %40, %2F and so on' };
  }
  if (!from || !FROM.test(from))
    return { wrong: 'HEADGATE_SMTP_FROM must be the address of the sender, like headgate@example.com' };
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? (isSecure ? 465 : 587) : Number(parsed.port),
    ...{ isSecure, credentials, from, caCertificate },
  };
}
