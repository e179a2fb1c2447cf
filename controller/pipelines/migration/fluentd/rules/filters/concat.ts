/** `concat`: joins records that are parts of one. */
import type { Section } from '../../section/section.ts';
import { translateRegexp } from '../../text/regexp.ts';
import { accessorPath, vrlPath, vrlRegexp, vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';

export function concatRule(section: Section, draft: Draft): void {
  section.ignore('timeout_label', 'emit_on_timeout_only', 'use_first_timestamp', 'use_partial_cri_logtag');
  const key = section.plain('key');
  if (key === undefined) {
    draft.open('key is missing.', section.line);
    return;
  }
  const [field, ...deeper] = accessorPath(key);
  const separator = section.plain('separator') ?? '\n';
  const timeout = section.time('flush_interval') ?? 60;
  const identity = section.plain('stream_identity_key');
  const boundaries = partialOf(section) ?? linesOf(section, draft, key);
  if (!boundaries || draft.isOpen) return;
  if (deeper.length > 0)
    draft.difference(
      'Only fields at the top of a record are joined; move the field there first.',
      section.lineOf('key'),
      'large',
    );
  if (section.bool('use_first_timestamp', false) === false) {
    draft.info('A joined record has the time of its first part.', section.line);
  }
  if (section.has('timeout_label')) {
    draft.difference(
      'What is joined after the time limit goes on here, not to timeout_label.',
      section.lineOf('timeout_label'),
      'small',
    );
  }
  const groups = [
    '_fluentd.tag',
    ...(identity === undefined ? [] : [vrlPath(accessorPath(identity)).slice(1)]),
  ];
  draft.add({
    ...{ name: '', kind: 'TRANSFORM', type: 'reduce' },
    config: {
      group_by: groups,
      ...boundaries.config,
      merge_strategies: {
        [String(field)]: separator === '\n' ? 'concat_newline' : separator === '' ? 'concat_raw' : 'concat',
        _fluentd: 'discard',
        ...boundaries.strategies,
      },
      expire_after_ms: Math.round(timeout * 1000),
    },
  });
  if (!['\n', '', ' '].includes(separator)) {
    draft.difference(
      `Parts are joined with a blank, not with ${JSON.stringify(separator)}.`,
      section.lineOf('separator'),
    );
  }
  if (boundaries.note) draft.difference(boundaries.note, section.line, 'small');
}

interface Boundaries {
  config: Record<string, unknown>;
  strategies: Record<string, string>;
  note?: string;
}

/** Parts of lines, which Docker and containerd mark as such. */
function partialOf(section: Section): Boundaries | null {
  const cri = section.bool('use_partial_cri_logtag', false);
  const metadata = section.bool('use_partial_metadata', false);
  const key =
    section.plain('partial_key') ??
    (cri ? (section.plain('partial_cri_logtag_key') ?? 'logtag') : metadata ? 'partial_last' : undefined);
  const stream = section.plain('partial_cri_stream_key');
  const value = section.plain('partial_value') ?? (cri ? 'P' : 'true');
  section.ignore('keep_partial_key', 'keep_partial_metadata', 'partial_metadata_format');
  if (key === undefined) return null;
  const field = vrlPath([key]);
  const ends = cri
    ? `${field} == "F"`
    : metadata
      ? `${field} == "true" || .partial_message == null`
      : `${field} != ${vrlString(value)}`;
  return {
    config: { ends_when: ends, ...(stream === undefined ? {} : {}) },
    strategies: { [key]: 'retain' },
  };
}

function linesOf(section: Section, draft: Draft, key: string): Boundaries | null {
  const start = expression(section, 'multiline_start_regexp', draft);
  const end = expression(section, 'multiline_end_regexp', draft);
  const goOn = expression(section, 'continuous_line_regexp', draft);
  const count = section.integer('n_lines');
  const text = `(to_string(${vrlPath(accessorPath(key))}) ?? "")`;
  if (count !== undefined) return { config: { max_events: count }, strategies: {} };
  if (start === undefined && end === undefined) {
    if (!draft.isOpen) draft.open('Nothing says where a record begins or ends.', section.line);
    return null;
  }
  const starts = start === undefined ? null : `match(${text}, ${start})`;
  const begins = starts !== null && goOn !== undefined ? `${starts} || !match(${text}, ${goOn})` : starts;
  return {
    // A reduce has one of both; a line that begins a record ends the one before it.
    config: begins === null ? { ends_when: `match(${text}, ${end ?? ''})` } : { starts_when: begins },
    strategies: {},
    ...(begins !== null && end !== undefined
      ? {
          note: 'A record ends where the next begins, or after flush_interval: multiline_end_regexp is not used.',
        }
      : {}),
  };
}

function expression(section: Section, key: string, draft: Draft): string | undefined {
  const raw = section.plain(key);
  if (raw === undefined) return undefined;
  const translated = translateRegexp(raw);
  if ('source' in translated) return vrlRegexp(translated.source);
  draft.open(
    `${key} has ${translated.problem}, which VRL has no counterpart for; write it otherwise.`,
    section.lineOf(key),
  );
  return undefined;
}
