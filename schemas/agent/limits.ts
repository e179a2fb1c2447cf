/**
 * The protocol's limits and patterns as plain values: the agent imports this file at run time, and the schema builder
 * beside it would cost it 8 MB of resident memory.
 */

/** Ids become file names on a node: nothing but these characters may reach a path. */
export const ID_PATTERN = '^[A-Za-z0-9_-]{1,64}$';
/** A certificate's file name: one path segment, no leading dot. */
export const CERT_FILENAME_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$';
/** Only variables of this form reach an engine as secrets. */
export const SECRET_VARIABLE_PATTERN = '^SVC_SECRET_[A-Z0-9_]{1,128}$';
/** Component ids that the metrics sidecar owns begin with this. */
export const RESERVED_PREFIX = 'svc_';

export const AGENT_LIMITS = {
  /** Bytes of a request body that the controller reads, 413 above. */
  bodyBytes: 8 * 1024 * 1024,
  /** Bytes of a config answer that the agent reads. */
  configBytes: 64 * 1024 * 1024,
  /** Bytes of one push message; a larger one breaks the stream. */
  pushMessageBytes: 256 * 1024,
  /** Lines that the agent keeps per pipeline. */
  logRingLines: 500,
  /** Lines of one delivery, 413 above. */
  logRequestLines: 20_000,
  /** Characters of one log line; the rest is cut. */
  logLineChars: 8192,
  startupGraceMs: 2_000,
  gracefulStopMs: 30_000,
  /** The longest time that an engine may be given to deliver what it holds. */
  drainSeconds: 600,
  heartbeatDebounceMs: 1_000,
  crashBackoffMs: { first: 1_000, cap: 60_000 },
  /** Configs that a node's engine builds at the same time before it is changed, and how long it may take for one. */
  configChecks: { atOnce: 2, timeoutMs: 5_000 },
  /** A config that the node's engine refused is built again after this. */
  recheckBackoffMs: { first: 1_000, cap: 300_000 },
  pushBackoffMs: { first: 1_000, cap: 30_000 },
  pushFailuresBeforeFallback: 3,
  firstPort: 8688,
  pollIntervalMs: 5_000,
  /** Bounds of what the controller may set; a larger value is ignored, a smaller one is raised. */
  shortestPollMs: 500,
  longestPollMs: 3_600_000,
  /** One-shot samples of a pipeline: components of a request, events of each, characters of one event as JSON. */
  samples: { components: 50, events: 50, defaultEvents: 5, eventChars: 65_536 },
  /** A request that nobody has answered by then is over; what was answered is kept for a day. */
  sampleRequestMs: 120_000,
  sampleResultMs: 86_400_000,
  /** A live tap ends by itself after this; events of one delivery, and of a second. */
  tapMs: 300_000,
  tapBatchEvents: 100,
  tapEventsPerSecond: 200,
  /** A downloaded agent must say its version by then; a download may take this long and be this large. */
  updateVersionMs: 10_000,
  updateDownloadMs: 300_000,
  updateBytes: 512 * 1024 * 1024,
  /** A new version that has not polled with success by then is taken back. */
  updateConfirmMs: 600_000,
  /** Label pairs of one node, characters of a key, characters of a value. */
  labels: { pairs: 64, key: 128, value: 256 },
} as const;
