/** GET /metrics: what Headgate measures of itself, by token or on a port of its own. */
import { expect } from 'chai';
import { readConfig } from '../../../controller/config.ts';
import { send } from '../../support/clients/http.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { freePort } from '../../support/harness/headgate.ts';
import { until } from '../../support/harness/until.ts';
import { findPrometheus, promtool } from '../../support/servers/metrics-stores.ts';

const TOKEN = 'a-token-of-a-scraper';

describe('GET /metrics', () => {
  let test: TestController;
  let port: number;

  before(async () => {
    port = await freePort();
    test = await startTestController({ metricsToken: TOKEN, metricsPort: port });
  });
  after(() => test?.stop());

  const read = (authorization = `Bearer ${TOKEN}`) =>
    send(`${test.url}/metrics`, { headers: { authorization } });
  const own = () => send(`http://127.0.0.1:${port}/metrics`);

  it('tells of the process, the lease, the pools, the queues and the requests', async () => {
    await send(`${test.url}/api/health`);
    await until(async () => (await read()).text.includes('\nheadgate_leader 1\n'), { what: 'the lease' });
    const { text, headers } = await read();
    expect(headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    for (const expected of [
      /^nodejs_eventloop_lag_p99_seconds /m,
      /^headgate_bus_connected 1$/m,
      /^headgate_database_connections\{pool="essential",state="used"\} \d+$/m,
      /^headgate_nodes 0$/m,
      /^headgate_heartbeats_waiting 0$/m,
      /^headgate_push_connections 0$/m,
      /^headgate_jobs\{state="failed"\} 0$/m,
      /^headgate_notifications\{state="waiting"\} 0$/m,
      /^headgate_notifications\{state="failed"\} 0$/m,
      /^headgate_http_requests_total\{route="other",status="2xx"\} [1-9]/m,
      /^headgate_http_request_duration_seconds_bucket\{le="10",route="other"\} [1-9]/m,
      /^# TYPE headgate_git_passes_total counter$/m,
    ])
      expect(text).to.match(expected);
  });

  it('is read by Prometheus without a remark', async function () {
    if (findPrometheus() === null) this.skip();
    const remarks = promtool(['check', 'metrics'], (await read()).text);
    // Those of the process come from a library.
    expect(remarks.filter((line) => line.includes('headgate_'))).to.deep.equal([]);
  });

  it('wants the token on the public port, and none on its own', async () => {
    expect((await send(`${test.url}/metrics`)).status).to.equal(401);
    expect((await read('Bearer another-token-of-some-length')).status).to.equal(401);
    expect((await own()).text).to.include('headgate_leader');
    expect((await send(`http://127.0.0.1:${port}/api/health`)).status).to.equal(404);
  });

  it('takes a token of at least 16 characters, and a port', () => {
    expect(() => readConfig({ HEADGATE_METRICS_TOKEN: 'short' })).to.throw(
      'HEADGATE_METRICS_TOKEN must have at least 16 characters and no blanks',
    );
    expect(() => readConfig({ HEADGATE_METRICS_PORT: 'none' })).to.throw('HEADGATE_METRICS_PORT');
    expect(readConfig({}).metricsToken).to.equal(null);
    expect(readConfig({ HEADGATE_METRICS_PORT: '9091' }).metricsPort).to.equal(9091);
  });
});
