import { hostOf, parseDatabaseUrl } from './database-url.ts';

/** Why the database of `HEADGATE_DATABASE_URL` cannot be used, in one line that also says what to do about it. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** It may pass by itself: the server starts, or is full, or its name is not known yet. */
  readonly transient: boolean;

  constructor(message: string, options: { transient?: boolean } = {}) {
    super(message);
    this.transient = options.transient ?? false;
  }
}

interface Target {
  /** Such as `db.example.com:5432`. */
  server: string;
  user: string;
  database: string;
  /** Whether sslrootcert names the authority to trust. */
  ownAuthority: boolean;
}

type Explain = (target: Target, said: string) => string;

interface Rule {
  /** SQLSTATE (PostgreSQL, Appendix A), or a code of Node.js. */
  code?: RegExp;
  text?: RegExp;
  transient?: boolean;
  explain: Explain;
}

const LOOK = 'look at HEADGATE_DATABASE_URL';

/** The first that matches holds. */
const RULES: readonly Rule[] = [
  {
    code: /^28P01$/,
    explain: ({ server, user }) =>
      `PostgreSQL at ${server} does not let user "${user}" in: the password is wrong, or there is no such user; correct HEADGATE_DATABASE_URL (@ : / ? # % in a password are written as %40 %3A %2F %3F %23 %25)`,
  },
  {
    text: /^SASL: .*client password must be/,
    explain: ({ server, user }) =>
      `PostgreSQL at ${server} asks for the password of user "${user}", and HEADGATE_DATABASE_URL has none; write it after the user: postgres://user:password@…`,
  },
  {
    code: /^28000$/,
    text: /no encryption|SSL off/,
    explain: ({ server }) =>
      `PostgreSQL at ${server} takes encrypted connections only; add ?sslmode=verify-full to HEADGATE_DATABASE_URL, and &sslrootcert=<file> where a private authority signed its certificate`,
  },
  {
    code: /^28000$/,
    explain: ({ server, user, database }, said) =>
      `PostgreSQL at ${server} does not let user "${user}" into database "${database}" (${said}); create the user, or let it in by pg_hba.conf`,
  },
  {
    code: /^3D000$/,
    explain: ({ server, user, database }) =>
      `PostgreSQL at ${server} has no database "${database}"; create it: CREATE DATABASE "${database}" OWNER "${user}" ENCODING 'UTF8' TEMPLATE template0`,
  },
  {
    code: /^55000$/,
    text: /not currently accepting connections/,
    explain: ({ server, database }) =>
      `database "${database}" of PostgreSQL at ${server} takes no connections; allow them, from another database: ALTER DATABASE "${database}" ALLOW_CONNECTIONS true`,
  },
  {
    code: /^55000$/,
    text: /connect to invalid database/,
    explain: ({ server, database }) =>
      `database "${database}" of PostgreSQL at ${server} is what a DROP DATABASE has left that was broken off; drop it again, and restore a backup or make an empty one`,
  },
  {
    code: /^42501$/,
    explain: ({ user, database }, said) =>
      `user "${user}" has no right to what is needed in database "${database}" (${said}); make it the owner: ALTER DATABASE "${database}" OWNER TO "${user}"`,
  },
  {
    code: /^25006$/,
    explain: readOnly,
  },
  {
    code: /^53300$/,
    transient: true,
    explain: ({ server }, said) =>
      `PostgreSQL at ${server} has no connection left (${said}); a controller needs 27: raise max_connections, or the limit of the user or the database, or stop what holds them`,
  },
  {
    code: /^57P0[123]$|^08/,
    transient: true,
    explain: ({ server }, said) => `PostgreSQL at ${server} is not ready (${said})`,
  },
  {
    text: /server does not support SSL/,
    explain: ({ server }) =>
      `PostgreSQL at ${server} has no TLS; switch it on there, or take sslmode out of HEADGATE_DATABASE_URL`,
  },
  {
    code: /SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)|^CERT_(?:UNTRUSTED|SIGNATURE)/,
    explain: ({ server, ownAuthority }, said) =>
      ownAuthority
        ? `the certificate of PostgreSQL at ${server} is not signed by an authority in the file that sslrootcert of HEADGATE_DATABASE_URL names (${said}); put the one that signed it there`
        : `the certificate of PostgreSQL at ${server} is not trusted (${said}); add &sslrootcert=<file with the authority that signed it> to HEADGATE_DATABASE_URL`,
  },
  {
    code: /ALTNAME/,
    explain: ({ server }) =>
      `the certificate of PostgreSQL at ${server} is made out for another name; write a name that stands in it into HEADGATE_DATABASE_URL`,
  },
  {
    code: /^CERT_|^ERR_(?:TLS|SSL|OSSL)/,
    explain: ({ server }, said) =>
      `there is no TLS connection to PostgreSQL at ${server} (${said}); look at its certificate and at sslmode, sslrootcert, sslcert and sslkey in HEADGATE_DATABASE_URL`,
  },
  {
    code: /^(?:ENOTFOUND|EAI_AGAIN)$/,
    transient: true,
    explain: ({ server }) => `no name server knows the host of ${server}; ${LOOK}`,
  },
  {
    // ENOENT: of a socket in a folder.
    code: /^(?:ECONNREFUSED|ENOENT)$/,
    transient: true,
    explain: ({ server }) => `nothing listens at ${server}; start PostgreSQL there, or ${LOOK}`,
  },
  {
    code: /^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ECONNRESET|EPIPE|EACCES|EPERM)$/,
    transient: true,
    explain: ({ server }, said) =>
      `PostgreSQL at ${server} does not answer (${said}); look at firewalls, and at HEADGATE_DATABASE_URL`,
  },
  {
    text: /timeout expired|Connection terminated|Connection ended|error establishing an SSL connection/,
    transient: true,
    explain: ({ server }) =>
      `what listens at ${server} does not answer as PostgreSQL does; start PostgreSQL there, or ${LOOK}`,
  },
];

/** Of PostgreSQL that takes no writes. */
export function readOnly({ server }: Target): string {
  return `PostgreSQL at ${server} takes no writes: it is a standby, or set to be read-only; give the address of the primary, or set default_transaction_read_only to off`;
}

export function targetOf(url: string): Target {
  const parsed = parseDatabaseUrl(url);
  const parameter = (name: string) => parsed?.searchParams.get(name);
  const user = parameter('user') || decoded(parsed?.username ?? '') || 'postgres';
  const host = parameter('host') || decoded(parsed ? hostOf(parsed) : '') || 'localhost';
  return {
    server: `${host}:${parameter('port') || parsed?.port || '5432'}`,
    user,
    database: decoded(parsed?.pathname.slice(1) ?? '') || user,
    ownAuthority: Boolean(parameter('sslrootcert')),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Null for an error that is none of the connection to the database: a fault of ours. */
export function explainConnection(error: unknown, url: string): DatabaseError | null {
  if (error instanceof DatabaseError) return error;
  // Node.js tries each address of a name.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return null;
  const code = String((first as { code?: unknown }).code ?? '');
  const rule = RULES.find((one) => (one.code?.test(code) ?? true) && (one.text?.test(first.message) ?? true));
  if (!rule) return null;
  return new DatabaseError(rule.explain(targetOf(url), messagesOf(first)), {
    transient: rule.transient ?? false,
  });
}

/** In one line, without the advice that Node.js gives to programmers. */
export function messagesOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error))
    .replace(/; if .*Node\.js.*$/s, '')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 200);
}
