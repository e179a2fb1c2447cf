/**
 * A receiver of logs by OTLP/HTTP in JSON, which refuses what ExportLogsServiceRequest does not allow: unknown fields, whole
 * numbers of 64 bits that are no texts, attributes without a key or with several values.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

interface Value {
  stringValue?: unknown;
  intValue?: unknown;
}
interface Attribute {
  key?: unknown;
  value?: Value;
}

export interface LogRecord {
  timeUnixNano: string;
  eventName: string;
  body: string;
  attributes: Record<string, string | number>;
}

const RECORD_FIELDS = new Set([
  ...['timeUnixNano', 'observedTimeUnixNano', 'severityNumber', 'severityText', 'eventName', 'body'],
  ...['attributes', 'droppedAttributesCount', 'flags', 'traceId', 'spanId'],
]);
const UINT64 = /^\d{1,20}$/;

export class OtlpReceiver {
  readonly records: LogRecord[] = [];
  readonly scopes = new Set<string>();
  readonly resources: Record<string, string | number>[] = [];
  /** What was wrong with requests that were refused. */
  readonly wrong: string[] = [];
  readonly paths = new Set<string>();
  /** In the answers from now on. */
  partial: { rejectedLogRecords: string; errorMessage: string } | null = null;
  readonly #server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.paths.add(request.url ?? '');
    try {
      if (request.headers['content-type'] !== 'application/json') throw new Error('content-type');
      this.#read(JSON.parse(Buffer.concat(chunks).toString()));
      const answer = this.partial ? { partialSuccess: this.partial } : {};
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    } catch (error) {
      this.wrong.push(String(error));
      response.writeHead(400).end(String(error));
    }
  });

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The receiver does not listen.');
    return `http://127.0.0.1:${address.port}`;
  }

  #read(request: {
    resourceLogs: {
      resource: { attributes: Attribute[] };
      scopeLogs: { scope: { name: string }; logRecords: Record<string, unknown>[] }[];
    }[];
  }): void {
    assertFields(request, ['resourceLogs']);
    const read: LogRecord[] = [];
    for (const { resource, scopeLogs } of request.resourceLogs) {
      this.resources.push(attributesOf(resource.attributes));
      for (const { scope, logRecords } of scopeLogs) {
        this.scopes.add(scope.name);
        for (const record of logRecords) read.push(recordOf(record));
      }
    }
    this.records.push(...read);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

function assertFields(value: object, allowed: readonly string[]): void {
  const unknown = Object.keys(value).find((name) => !allowed.includes(name));
  if (unknown !== undefined) throw new Error(`unknown field ${unknown}`);
}

function recordOf(record: Record<string, unknown>): LogRecord {
  assertFields(record, [...RECORD_FIELDS]);
  for (const field of ['timeUnixNano', 'observedTimeUnixNano'])
    if (!UINT64.test(String(record[field])) || typeof record[field] !== 'string') throw new Error(field);
  const { severityNumber, body } = record;
  if (!Number.isInteger(severityNumber) || Number(severityNumber) < 1 || Number(severityNumber) > 24)
    throw new Error('severityNumber');
  return {
    timeUnixNano: String(record.timeUnixNano),
    eventName: String(record.eventName),
    body: String(readValue(body as Value)),
    attributes: attributesOf(record.attributes as Attribute[]),
  };
}

function attributesOf(attributes: readonly Attribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      if (typeof key !== 'string' || key === '' || !value) throw new Error('an attribute');
      return [key, readValue(value)];
    }),
  );
}

function readValue(value: Value): string | number {
  assertFields(value, ['stringValue', 'intValue']);
  if (Object.keys(value).length !== 1) throw new Error('a value is one of its kinds');
  if (typeof value.stringValue === 'string') return value.stringValue;
  if (typeof value.intValue === 'string' && /^-?\d{1,19}$/.test(value.intValue))
    return Number(value.intValue);
  throw new Error('a value');
}
