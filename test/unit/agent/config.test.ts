import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { HELP, parseCommandLine } from '../../../agent/command-line.ts';
import { ConfigError, readConfig } from '../../../agent/config.ts';
import { parseDuration } from '../../../agent/duration.ts';

const ROOT = join(import.meta.dirname, '../../..');

describe('settings of the agent', () => {
  it('reads durations of one or more parts', () => {
    const known = { '500ms': 500, '10s': 10_000, '1m30s': 90_000, '2h': 7_200_000, '1.5s': 1_500 };
    for (const [text, ms] of Object.entries(known)) expect(parseDuration(text), text).to.equal(ms);
    for (const text of ['', '10', 's', '-1s', '10 s', '1d', '1s2', 'Infinity']) {
      expect(parseDuration(text), text).to.equal(undefined);
    }
  });

  it('has the defaults of the protocol', () => {
    expect(readConfig({ SVC_URL: 'https://c.example/' })).to.deep.equal({
      url: 'https://c.example',
      token: undefined,
      dataDir: '/var/lib/svc-agent',
      engineBin: 'vector',
      pollIntervalMs: 5_000,
      logFlushIntervalMs: 2_000,
      logLevel: 'info',
      labels: {},
      metricsPort: 9090,
      metricsHost: '0.0.0.0',
      portBase: 8688,
      updateKey: undefined,
      allowDowngrade: false,
    });
  });

  it('allows lower versions only where that is said', () => {
    const { allowDowngrade: allowed } = readConfig({ SVC_URL: 'http://c', SVC_ALLOW_DOWNGRADE: '1' });
    expect(allowed).to.equal(true);
    for (const SVC_ALLOW_DOWNGRADE of ['', '0', 'false'])
      expect(readConfig({ SVC_URL: 'http://c', SVC_ALLOW_DOWNGRADE }).allowDowngrade).to.equal(false);
  });

  it('joins both label variables; SVC_NODE_LABELS wins', () => {
    const { labels } = readConfig({
      SVC_URL: 'http://c',
      SVC_LABELS: 'a=1, b=2',
      SVC_NODE_LABELS: 'b=3,c=x=y,',
    });
    expect(labels).to.deep.equal({ a: '1', b: '3', c: 'x=y' });
  });

  const wrong: [name: string, value: string, message: RegExp][] = [
    ['SVC_URL', '', /^config error: SVC_URL is required$/],
    ['SVC_URL', 'not a url', /SVC_URL is not a URL/],
    ['SVC_URL', 'ftp://x', /http:\/\/ or https:\/\//],
    ['SVC_URL', 'http://user:secret@x', /^((?!secret).)*$/],
    ['SVC_POLL_INTERVAL', '0s', /SVC_POLL_INTERVAL must be a duration/],
    ['SVC_LOG_FLUSH_INTERVAL', '2', /SVC_LOG_FLUSH_INTERVAL must be a duration/],
    ['SVC_LOG_LEVEL', 'loud', /debug, info, warn, error/],
    ['SVC_NODE_LABELS', 'novalue', /key=value/],
    ['SVC_NODE_LABELS', `k=${'v'.repeat(257)}`, /key=value/],
    ['SVC_LABELS', Array.from({ length: 65 }, (_, n) => `k${n}=v`).join(), /more than 64/],
    ['SVC_METRICS_PORT', '65536', /a port from 0/],
    ['SVC_PORT_BASE', '0', /a port from 1/],
    ['SVC_ALLOW_DOWNGRADE', 'perhaps', /SVC_ALLOW_DOWNGRADE must be 1 or 0/],
    ['SVC_UPDATE_PUBLIC_KEY', 'bm90IGEga2V5', /Ed25519 public key/],
    ['SVC_DATA_DIR', '/data/{a,b}', /SVC_DATA_DIR must not contain/],
  ];
  for (const [name, value, message] of wrong) {
    it(`refuses ${name}=${value.slice(0, 20)}`, () => {
      expect(() => readConfig({ SVC_URL: 'http://c', [name]: value })).to.throw(ConfigError, message);
    });
  }

  it('is explained by --help and in docs/agents.md, every variable that is read', () => {
    const sources = globSync('agent/**/*.ts', { cwd: ROOT })
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .join('\n');
    const read = [...sources.matchAll(/env\.(SVC_[A-Z_]+)|\(env, '(SVC_[A-Z_]+)'/g)].map(
      (match) => match[1] ?? match[2] ?? '',
    );
    const page = readFileSync(join(ROOT, 'docs/agents.md'), 'utf8');
    const names = [
      ...read,
      'SVC_AGENT_USER',
      'NODE_EXTRA_CA_CERTS',
      'SSL_CERT_FILE',
      'HTTPS_PROXY',
      'NO_PROXY',
    ];
    expect(read).to.include.members(['SVC_URL', 'SVC_TOKEN', 'SVC_POLL_INTERVAL', 'SVC_NODE_LABELS']);
    for (const name of names) {
      expect(HELP, name).to.match(new RegExp(`\\b${name}\\b`));
      expect(page, name).to.match(new RegExp(`\`${name}\``));
    }
  });

  it('knows its flags and no others', () => {
    expect(parseCommandLine([])).to.deep.equal({ run: 'agent', channel: undefined });
    expect(parseCommandLine(['--channel', 'dev'])).to.deep.equal({ run: 'agent', channel: 'dev' });
    expect(parseCommandLine(['--channel=stable'])).to.deep.equal({ run: 'agent', channel: 'stable' });
    expect(parseCommandLine(['-v']).run).to.equal('version');
    for (const args of [['--url', 'http://c'], ['--token=x'], ['--channel'], ['extra']]) {
      expect(() => parseCommandLine(args), args.join(' ')).to.throw(ConfigError);
    }
  });
});
