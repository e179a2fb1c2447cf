// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { engineEnvironment } from '../../../agent/supervise/engine/engine-environment.ts';
import { quoteSecrets } from '../../../agent/supervise/engine/quoted-secrets.ts';
import { compile } from '../../../controller/pipelines/definition/compile.ts';
import { escapeForVrl, vrlReferences, vrlVariable } from '../../../controller/secrets/index.ts';
import { definition } from '../../support/fixtures/definition.ts';
import { HARD_VALUES } from '../../support/fixtures/hard-values.ts';
import { until } from '../../support/harness/until.ts';
import { Bench, engineBinary, freePort } from './support.ts';

interface Received {
  password: string;
  message: string;
  vrl: string;
  admin: unknown;
}

describe('secrets in an engine', function () {
  this.timeout(60_000);
  const received = new Map<number, Received>();
  let bench: Bench;
  let server: Server;
  let output = '';

  before(async () => {
    bench = new Bench();
    const port = await freePort();
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        const sent = Buffer.from(request.headers.authorization?.split(' ')[1] ?? '', 'base64').toString();
        const [event] = [JSON.parse(body)].flat();
        received.set(Number(request.url?.slice(1)), {
          ...event,
          password: sent.slice(sent.indexOf(':') + 1),
        });
        response.end();
      });
    }).listen(port, '127.0.0.1');
    const numbers = HARD_VALUES.map((_, index) => index);
    const each = <T>(make: (index: number, placeholder: string) => [string, T]) =>
      Object.fromEntries(numbers.map((index) => make(index, `\${SVC_SECRET_S${index}}`)));
    const { configYaml } = compile(
      definition({
        sources: each((n, secret) => [
          `in${n}`,
          { type: 'demo_logs', format: 'shuffle', lines: [secret], count: 1, interval: 0 },
        ]),
        transforms: each((n, secret) => [
          `set${n}`,
          { type: 'remap', inputs: [`in${n}`], source: `# ${secret}\n.vrl = "${secret}"\n` },
        ]),
        sinks: each((n, secret) => [
          `out${n}`,
          {
            type: 'http',
            inputs: [`set${n}`],
            uri: `http://127.0.0.1:${port}/${n}`,
            encoding: { codec: 'json' },
            batch: { timeout_secs: 0.1 },
            healthcheck: { enabled: false },
            auth: { strategy: 'basic', user: 'u', password: secret },
          },
        ]),
      }),
    );
    const secrets = Object.fromEntries(HARD_VALUES.map((value, n) => [`SVC_SECRET_S${n}`, value]));
    for (const variable of vrlReferences(configYaml))
      secrets[vrlVariable(variable)] = escapeForVrl(secrets[variable] ?? '');
    const entry = { configYaml, secrets, logLevel: 'info' };
    const { env } = engineEnvironment(entry, { PATH: '/usr/bin:/bin' }, bench.folder);
    const config = bench.file(
      'pipeline.yaml',
      `data_dir: ${bench.folder}\n${quoteSecrets(entry).configYaml}`,
    );
    const binary = process.env.HEADGATE_ENGINE_BIN ?? (await engineBinary());
    const engine = spawn(binary, ['--config', config], { env, cwd: bench.folder });
    for (const stream of [engine.stdout, engine.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const ended = once(engine, 'exit');
    try {
      await until(() => received.size === HARD_VALUES.length || engine.exitCode !== null, {
        what: 'every value has come',
      });
    } finally {
      engine.kill('SIGKILL');
      await ended;
    }
  });

  after(async () => {
    server?.closeAllConnections();
    server?.close();
    await bench?.dispose();
  });

  for (const [index, value] of HARD_VALUES.entries())
    it(`come out of it byte for byte, from options and from VRL: ${JSON.stringify(value).slice(0, 60)}`, () => {
      const one = received.get(index);
      expect(one, output.slice(-2_000)).to.include({ password: value, message: value, vrl: value });
      expect(one, 'run as VRL').not.to.have.property('admin');
    });
});
