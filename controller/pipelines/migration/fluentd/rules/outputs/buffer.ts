/** `<buffer>`: where events wait, how many go in one request, and how often a request is tried. */
import type { Section } from '../../section/section.ts';
import type { Draft } from '../draft.ts';
import type { Target } from './target.ts';

/** What a sink of the engine has options for. */
export interface Abilities {
  batch: boolean;
  request: boolean;
  /** Targets refuse larger requests. */
  maxBatchBytes?: number;
}

/** The engine's least size of a buffer on disk. */
const MIN_DISK_BYTES = 268_435_488;
/** Fluentd has 64 GB by default, which would be too much for a node. */
const DEFAULT_DISK_BYTES = 1_073_741_824;
const DEFAULT_MAX_BATCH_BYTES = 20 * 1024 * 1024;

const IGNORED = [
  ...[
    'path',
    'buffer_path',
    'flush_at_shutdown',
    'flush_thread_interval',
    'flush_thread_burst_interval',
    'flush_mode',
  ],
  ...[
    'delayed_commit_timeout',
    'timekey_wait',
    'timekey_use_utc',
    'timekey_zone',
    'time_slice_wait',
    'queue_limit_length',
  ],
  ...[
    'chunk_full_threshold',
    'queued_chunks_limit_size',
    'compress',
    'retry_type',
    'retry_exponential_backoff_base',
  ],
  ...[
    'retry_randomize',
    'retry_secondary_threshold',
    'retry_timeout',
    'disable_chunk_backup',
    'decompression_size_limit',
  ],
  ...[
    'buffer_queue_limit',
    'time_slice_format',
    'utc',
    'retry_forever',
    'disable_retry_limit',
    'timekey',
    'path_suffix',
  ],
  ...[
    'burst_flush_interval',
    'try_flush_interval',
    'queued_chunk_flush_interval',
    'symlink_path',
    'retry_wait',
  ],
];

export function bufferOptions(target: Target, abilities: Abilities): Record<string, unknown> {
  const { section, draft } = target;
  const buffer = section.child('buffer') ?? section;
  section.ignore('time_slice_format', 'time_slice_wait', 'utc', 'buffer_path');
  buffer.ignore(...IGNORED);
  noteSecondary(section, draft);
  const batch = abilities.batch ? batchOptions(buffer, section, abilities) : null;
  const request = abilities.request ? requestOptions(buffer, draft) : null;
  if (!abilities.batch)
    buffer.ignore('flush_interval', 'chunk_limit_size', 'chunk_limit_records', 'buffer_chunk_limit');
  if (!abilities.request) {
    buffer.ignore(
      'retry_max_times',
      'retry_limit',
      'retry_max_interval',
      'max_retry_wait',
      'flush_thread_count',
      'num_threads',
    );
  }
  const waiting = waitingOptions(buffer, section, draft);
  return {
    ...(waiting ? { buffer: waiting } : {}),
    ...(batch && Object.keys(batch).length > 0 ? { batch } : {}),
    ...(request && Object.keys(request).length > 0 ? { request } : {}),
  };
}

/** Null for the engine's own: 500 events in memory, and senders wait when it is full. */
function waitingOptions(buffer: Section, section: Section, draft: Draft): Record<string, unknown> | null {
  const isNested = buffer !== section;
  const type = (isNested ? buffer.plugin : section.plain('buffer_type')) || 'memory';
  const size = buffer.size('total_limit_size', 'queue_limit_size');
  const action = buffer.plain('overflow_action', 'buffer_queue_full_action') ?? 'throw_exception';
  const line = buffer.lineOf('overflow_action');
  if (action === 'drop_oldest_chunk') {
    draft.difference('When the buffer is full the newest events are dropped here, not the oldest.', line);
  }
  const whenFull = action === 'drop_oldest_chunk' ? { when_full: 'drop_newest' } : {};
  if (type.startsWith('file')) {
    const bytes = Math.max(MIN_DISK_BYTES, size ?? DEFAULT_DISK_BYTES);
    if (size === undefined) {
      draft.info(
        'The buffer on disk has 1 GiB; Fluentd has 64 GB where total_limit_size does not say otherwise.',
        buffer.line,
      );
    } else if (size < MIN_DISK_BYTES) {
      draft.info('A buffer on disk has at least 256 MiB.', buffer.lineOf('total_limit_size'));
    }
    if (action === 'throw_exception')
      draft.info('When the buffer is full, senders wait; Fluentd reports an error to them.', buffer.line);
    return { type: 'disk', max_size: bytes, ...whenFull };
  }
  if (size === undefined && whenFull.when_full === undefined) return null;
  return { type: 'memory', ...(size === undefined ? { max_events: 5000 } : { max_size: size }), ...whenFull };
}

function batchOptions(
  buffer: Section,
  section: Section,
  { maxBatchBytes }: Abilities,
): Record<string, unknown> {
  const bytes = buffer.size('chunk_limit_size', 'buffer_chunk_limit');
  const records = buffer.integer('chunk_limit_records');
  const interval = buffer.time('flush_interval') ?? section.time('flush_interval');
  const key = buffer.time('timekey');
  const isImmediate = buffer.plain('flush_mode') === 'immediate';
  const seconds = isImmediate ? 1 : (interval ?? key);
  return {
    ...(bytes === undefined ? {} : { max_bytes: Math.min(bytes, maxBatchBytes ?? DEFAULT_MAX_BATCH_BYTES) }),
    ...(records === undefined ? {} : { max_events: records }),
    ...(seconds === undefined ? {} : { timeout_secs: Math.max(1, seconds) }),
  };
}

function requestOptions(buffer: Section, draft: Draft): Record<string, unknown> {
  const attempts = buffer.integer('retry_max_times', 'retry_limit');
  const wait = buffer.time('retry_wait');
  const longest = buffer.time('retry_max_interval', 'max_retry_wait');
  const threads = buffer.integer('flush_thread_count', 'num_threads');
  const forever = buffer.bool('retry_forever', false) || buffer.bool('disable_retry_limit', false);
  if (!forever && attempts === undefined) {
    draft.info('A request is tried again until it succeeds; Fluentd gives up after 72 hours.', buffer.line);
  }
  return {
    ...(attempts === undefined || forever ? {} : { retry_attempts: attempts }),
    ...(wait === undefined ? {} : { retry_initial_backoff_secs: Math.max(1, Math.round(wait)) }),
    ...(longest === undefined ? {} : { retry_max_duration_secs: Math.max(1, Math.round(longest)) }),
    ...(threads === undefined || threads <= 1 ? {} : { concurrency: threads }),
  };
}

export function noteSecondary(section: Section, draft: Draft): void {
  const secondary = section.child('secondary');
  if (!secondary) return;
  secondary.ignoreAll();
  draft.difference(
    'There is no <secondary>: events wait in the buffer until the target takes them.',
    secondary.line,
  );
}
