import type { Sink } from '../component.ts';
import { addressText, parseAddress } from '../config/globals.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { listen } from '../http-listen.ts';
import { Exposition } from './exposition.ts';

/** `prometheus_exporter`: answers `GET /metrics` with the last value of every series. */
export function configurePrometheusExporter(options: OptionReader): Sink {
  const address = parseAddress(options.string('address') ?? '0.0.0.0:9598', options.path);
  const defaultNamespace = options.string('default_namespace');
  const suppressTimestamp = options.boolean('suppress_timestamp', false);
  const expireMs = options.number('flush_period_secs', 60) * 1000;
  options.finish();
  return {
    accepts: ['metric'],
    resources: address.port === 0 ? [] : [`tcp ${addressText(address)}`],
    start: async ({ log, metrics }) => {
      const exposition = new Exposition({ defaultNamespace, suppressTimestamp, expireMs });
      const sentBytes = metrics.wireBytes('sent', 'http');
      const server = await listen(address, (request, response) => {
        if (request.url?.split('?')[0] !== '/metrics') {
          response.writeHead(404).end();
          return;
        }
        const text = exposition.render(Date.now());
        sentBytes.value += Buffer.byteLength(text);
        response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text);
      }).catch((error: Error) => {
        throw new Error(`Failed to start Prometheus exporter: TCP bind failed: ${error.message}.`);
      });
      log.info('Building HTTP server.', { address: addressText(server.address) });
      return {
        write(batch) {
          if (batch.kind !== 'metric') return undefined;
          const now = Date.now();
          for (const metric of batch.events) exposition.add(metric, now);
          return undefined;
        },
        close: server.close,
      };
    },
  };
}
