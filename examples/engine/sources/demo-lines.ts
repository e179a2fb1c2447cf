/** Made-up log lines in the formats that Vector's `demo_logs` knows. */
const USERS = ['anna', 'bjorn', 'chen', 'divya', 'emeka', 'fatima', 'goran', 'hana'];
const DOMAINS = ['shop.example', 'mail.example', 'api.example', 'static.example', 'login.example'];
const APPLICATIONS = ['auth', 'billing', 'checkout', 'cron', 'ingress', 'search'];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const PATHS = [
  '/',
  '/cart',
  '/orders/1042',
  '/login',
  '/health',
  '/search?q=lamp',
  '/assets/app.js',
  '/admin',
];
const PROTOCOLS = ['HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0'];
const STATUSES = [200, 200, 200, 201, 204, 301, 304, 400, 401, 403, 404, 500, 502, 503];
const SEVERITIES = ['emerg', 'alert', 'crit', 'error', 'warn', 'notice', 'info', 'debug'];
const MESSAGES = [
  'connection to the database was reset, trying again',
  'request took longer than the limit',
  'certificate expires in 12 days',
  'cache is warm',
  'user session was renewed',
  'disk is 91% full',
  'payment provider answered with an error',
  'worker finished its queue',
];
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export const DEMO_FORMATS = [
  'apache_common',
  'apache_error',
  'bsd_syslog',
  'json',
  'shuffle',
  'syslog',
] as const;
export type DemoFormat = (typeof DEMO_FORMATS)[number];

/** One line in the given format; `shuffle` has lines of its own and is not made here. Times are UTC. */
export function demoLine(format: Exclude<DemoFormat, 'shuffle'>, now: Date): string {
  switch (format) {
    case 'apache_common':
      return `${ip()} - ${pick(USERS)} [${apacheTime(now)} +0000] "${request()}" ${pick(STATUSES)} ${between(50, 50_000)}`;
    case 'apache_error':
      return `[${DAYS[now.getUTCDay()]} ${bsdTime(now)} ${now.getUTCFullYear()}] [${pick(USERS)}:${pick(SEVERITIES)}] [pid ${between(1, 9999)}:tid ${between(1, 9999)}] [client ${ip()}:${between(1024, 65_535)}] ${pick(MESSAGES)}`;
    case 'bsd_syslog':
      return `<${between(0, 191)}>${bsdTime(now)} ${pick(DOMAINS)} ${pick(APPLICATIONS)}[${between(1, 9999)}]: ${pick(MESSAGES)}`;
    case 'syslog':
      return `<${between(0, 191)}>1 ${now.toISOString()} ${pick(DOMAINS)} ${pick(APPLICATIONS)} ${between(100, 9999)} ID${between(1, 999)} - ${pick(MESSAGES)}`;
    case 'json':
      return JSON.stringify({
        host: ip(),
        'user-identifier': pick(USERS),
        datetime: apacheTime(now),
        method: pick(METHODS),
        request: pick(PATHS),
        protocol: pick(PROTOCOLS),
        status: String(pick(STATUSES)),
        bytes: between(1000, 50_000),
        referer: `https://${pick(DOMAINS)}${pick(PATHS)}`,
      });
  }
}

export function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)]!;
}

function between(low: number, high: number): number {
  return low + Math.floor(Math.random() * (high - low));
}

function ip(): string {
  return `${between(1, 255)}.${between(1, 255)}.${between(1, 255)}.${between(1, 255)}`;
}

function request(): string {
  return `${pick(METHODS)} ${pick(PATHS)} ${pick(PROTOCOLS)}`;
}

function apacheTime(now: Date): string {
  const day = String(now.getUTCDate()).padStart(2, '0');
  return `${day}/${MONTHS[now.getUTCMonth()]}/${now.getUTCFullYear()}:${now.toISOString().slice(11, 19)}`;
}

function bsdTime(now: Date): string {
  const day = String(now.getUTCDate()).padStart(2, '0');
  return `${MONTHS[now.getUTCMonth()]} ${day} ${now.toISOString().slice(11, 19)}`;
}
