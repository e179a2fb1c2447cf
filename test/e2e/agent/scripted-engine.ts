/**
 * An engine that says of its buffers and its log what the pipeline's YAML has as comments, and goes about its end as Vector
 * does: the exporter stops at SIGTERM, what is not delivered keeps it up to its limit, and then it ends with 0. The limit
 * is over when a test makes the file `limit` in its working folder, since the agent's clock is moved by hand.
 *
 *     # memory: 5000        events in the memory buffer of the sink `out`
 *     # disk: 6             events in a disk buffer
 *     # hang                its sink delivers nothing
 *     # log: <line>         is written to stderr
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [first, config = '', , sidecar = ''] = process.argv.slice(2);
if (first === '--version') {
  console.log('scripted-engine 1.0');
  process.exit(0);
}
const text = readFileSync(config, 'utf8');
const noted = (name: string): string[] =>
  [...text.matchAll(new RegExp(`^# ${name}: (.*)$`, 'gm'))].map((found) => found[1] ?? '');
const stamp = () => new Date().toISOString();
const [, port] = /address: 127\.0\.0\.1:(\d+)\s*$/.exec(readFileSync(sidecar, 'utf8')) ?? [];
const sizes = (['memory', 'disk'] as const).flatMap((type) =>
  noted(type).map(
    (events) =>
      `vector_buffer_size_events{buffer_id="out",buffer_type="${type}",component_id="out",component_kind="sink",component_type="http",host="n1",stage="0"} ${events} ${Date.now()}`,
  ),
);
const exporter = createServer((_, response) =>
  response.end(
    `vector_component_received_events_total{component_id="in",component_kind="source",component_type="demo_logs",host="n1"} 5000\n${sizes.join('\n')}\n`,
  ),
);
exporter.listen(Number(port), '127.0.0.1', () => {
  for (const line of noted('log')) console.error(line.replace('<time>', stamp()));
  console.error(`${stamp()}  INFO vector: Vector has started. debug="false" version="0.57.0" arch="x86_64"`);
});
process.on('SIGTERM', () => {
  console.error(`${stamp()}  INFO vector: Vector is stopping.`);
  exporter.close();
  exporter.closeAllConnections();
  if (!/^# hang$/m.test(text)) process.exit(0);
  const look = setInterval(() => {
    if (!existsSync('limit')) return;
    clearInterval(look);
    console.error(
      `${stamp()} ERROR vector::topology::running: components="out" Failed to gracefully shut down in time. Killing components. internal_log_rate_limit=false`,
    );
    process.exit(0);
  }, 10);
});
