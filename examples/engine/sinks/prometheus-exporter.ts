import { component, type Sink } from '../component.ts';
import { address as addressShape, addressText } from '../config/address.ts';
import { defaulted, optional } from '../config/options.ts';
import { flag, number, text as textShape } from '../config/shape.ts';
import { listen } from '../http-listen.ts';
import { Exposition } from './exposition.ts';

export const prometheusExporter = component({
  title: 'Prometheus Exporter',
  about: 'Answers `GET /metrics` with the last value of every series.',
  options: {
    address: defaulted(addressShape, '0.0.0.0:9598', 'The IP address and port to listen on.', {
      examples: ['192.160.0.10:9598'],
    }),
    default_namespace: optional(textShape, 'What the names of metrics without a namespace begin with.', {
      examples: ['service'],
    }),
    suppress_timestamp: defaulted(flag, false, 'Leaves out the times of the values.', { advanced: true }),
    flush_period_secs: defaulted(
      number({ minimum: 0 }),
      60,
      'Drops a series that was not seen for longer. With 0, none is dropped.',
      { unit: 'seconds', advanced: true },
    ),
  },
  lacking: ['auth', 'buckets', 'distributions_as_summaries', 'quantiles', 'tls'],
  configure(values): Sink {
    const { address, default_namespace: defaultNamespace, suppress_timestamp: suppressTimestamp } = values;
    const expireMs = values.flush_period_secs * 1000;
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
  },
});
