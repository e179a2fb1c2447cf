/**
 * A batch as logs by OTLP/HTTP in JSON: ExportLogsServiceRequest of
 * https://github.com/open-telemetry/opentelemetry-proto, in which whole numbers of 64 bits are texts. Pure.
 */
import type { Attributes, SourceEntry } from './source.ts';

const LOGS_PATH = '/v1/logs';
/** SEVERITY_NUMBER_INFO. */
const INFO = 9;

/** A base address gets the path of logs; one that has a path is taken as it is. */
export function logsUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.pathname === '/' || parsed.pathname === '') parsed.pathname = LOGS_PATH;
  return parsed.href;
}

interface Emitter {
  scope: string;
  /** Where the controller is reached. */
  baseUrl: string;
  /** Milliseconds since 1970. */
  now: number;
}

export function otlpBody(
  entries: readonly Pick<SourceEntry, 'at' | 'eventName' | 'text' | 'attributes'>[],
  { scope, baseUrl, now }: Emitter,
): string {
  return JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'headgate', 'url.full': baseUrl }) },
        scopeLogs: [
          {
            scope: { name: scope },
            logRecords: entries.map(({ at, eventName, text, attributes }) => ({
              timeUnixNano: nanoseconds(at.getTime()),
              observedTimeUnixNano: nanoseconds(now),
              severityNumber: INFO,
              severityText: 'INFO',
              eventName,
              body: { stringValue: text },
              attributes: attributesOf(attributes),
            })),
          },
        ],
      },
    ],
  });
}

const nanoseconds = (ms: number): string => `${Math.floor(ms)}000000`;

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === null
      ? []
      : [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }],
  );

export interface PartialSuccess {
  rejected: number;
  message: string;
}

/** What a collector refused of a request that it took; it is not to be sent again (OTLP, "Partial Success"). */
export function readPartialSuccess(answer: string): PartialSuccess | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(answer);
  } catch {
    return null;
  }
  const { partialSuccess } = (parsed ?? {}) as { partialSuccess?: Record<string, unknown> };
  const rejected = Number(partialSuccess?.rejectedLogRecords ?? 0);
  if (!Number.isSafeInteger(rejected) || rejected <= 0) return null;
  return { rejected, message: String(partialSuccess?.errorMessage ?? '') };
}
