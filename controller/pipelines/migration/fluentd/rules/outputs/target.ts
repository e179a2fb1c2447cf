/** What outputs have in common: values with placeholders, what is added to records before they are written, and the sink. */
import { HOST_VARIABLE, TAG, TAG_TEXT, TIME, TIME_VALUE } from '../../event-form.ts';
import type { Section } from '../../section/section.ts';
import { translateTimeFormat } from '../../text/time-format.ts';
import { accessorPath, vrlPath, vrlString } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';

/** Directives of time, with what stands between them. */
const TIME_RUN = /%[-0^]?[YmdHMSjFTyebBaAsLNpz](?:[-_./:T ]?%[-0^]?[YmdHMSjFTyebBaAsLNpz])*/g;
const PLACEHOLDER = /\$\{([^}]{1,256})\}/g;

export class Target {
  readonly section: Section;
  readonly draft: Draft;
  /** Names of pieces begin with it: a `copy` has several targets. */
  readonly prefix: string;
  /** Lines that run on each event before it is written. */
  readonly before: string[] = [];
  readonly #dates = new Map<string, string>();
  readonly #parts = new Set<string>();
  readonly #useUtc: boolean;

  constructor(section: Section, draft: Draft, prefix = '') {
    this.section = section;
    this.draft = draft;
    this.prefix = prefix;
    const buffer = section.child('buffer');
    this.#useUtc =
      (buffer?.bool('timekey_use_utc', false) ?? false) ||
      section.has('utc') ||
      section.bool('timekey_use_utc', false);
    this.#inject();
  }

  /** The value of a parameter as an option that is a template: `${tag}`, `${field}` and `%Y` become fields of the event. */
  template(...keys: readonly string[]): string | undefined {
    const text = this.section.text(...keys);
    return text === undefined ? undefined : this.templateOf(text, this.section.lineOf(keys[0] ?? ''));
  }

  /** `text` has doubled dollars, apart from placeholders of secrets. */
  templateOf(text: string, line: number | null = null): string {
    return text
      .replaceAll('{{', '{ {')
      .replace(/\$\$\{([^}]{1,256})\}|__TAG__/g, (written, inside?: string) =>
        this.#field(inside ?? 'tag', written, line),
      )
      .replace(TIME_RUN, (format) => this.#date(format));
  }

  /** For VRL: an expression that makes the text. */
  expression(text: string): string {
    const parts: string[] = [];
    let end = 0;
    for (const match of text.matchAll(PLACEHOLDER)) {
      if (match.index > end) parts.push(vrlString(text.slice(end, match.index)));
      const path = this.#path(match[1] ?? '');
      // An element of a text that was split is a text or null, which cannot fail.
      parts.push(path.startsWith('split(') ? `to_string(${path})` : `(to_string(${path}) ?? "")`);
      end = match.index + match[0].length;
    }
    if (end < text.length || parts.length === 0) parts.push(vrlString(text.slice(end)));
    return parts.join(' + ');
  }

  /** Adds the sink, with what has to run before it. */
  write(type: string, config: Record<string, unknown>): void {
    const from = this.before.length > 0 ? [this.#name('prepare')] : undefined;
    if (this.before.length > 0) this.draft.remap(this.#name('prepare'), this.before);
    this.draft.add({ name: this.prefix, kind: 'SINK', type, config, ...(from ? { from } : {}) });
  }

  #name(name: string): string {
    return this.prefix === '' ? name : `${this.prefix}_${name}`;
  }

  #path(inside: string): string {
    if (inside === 'tag') return TAG;
    const part = /^tag(?:_parts)?\[(-?\d{1,3})\]$/.exec(inside);
    if (part) return `split(${TAG_TEXT}, ".")[${part[1]}]`;
    return vrlPath(accessorPath(inside));
  }

  #field(inside: string, written: string, line: number | null): string {
    if (inside === 'tag') return '{{ _fluentd.tag }}';
    if (inside === 'hostname') return HOST_VARIABLE;
    const part = /^tag(?:_parts)?\[(-?\d{1,3})\]$/.exec(inside);
    if (part) {
      const name = `tag_${(part[1] ?? '').replace('-', 'last_')}`;
      if (!this.#parts.has(name))
        this.before.push(`._fluentd.${name} = to_string(split(${TAG_TEXT}, ".")[${part[1]}])`);
      this.#parts.add(name);
      return `{{ _fluentd.${name} }}`;
    }
    if (inside === 'chunk_id' || inside === 'worker_id') {
      this.draft.info(`${written} has no counterpart and is left out.`, line);
      return '';
    }
    return `{{ ${vrlPath(accessorPath(inside)).slice(1)} }}`;
  }

  #date(format: string): string {
    const known = this.#dates.get(format);
    if (known !== undefined) return known;
    const translated = translateTimeFormat(format, 'format');
    if (!translated) return format.replaceAll('%', '%%');
    const name = `date_${this.#dates.size + 1}`;
    const zone = this.#useUtc ? '' : ', timezone: "local"';
    this.before.push(
      `._fluentd.${name} = format_timestamp!(${TIME_VALUE}, format: ${vrlString(translated.format)}${zone})`,
    );
    const field = `{{ _fluentd.${name} }}`;
    this.#dates.set(format, field);
    return field;
  }

  /** `<inject>`, and the parameters that stood for it before version 1. */
  #inject(): void {
    const { section } = this;
    const inject = section.child('inject');
    const host = inject?.plain('hostname_key');
    const name = inject?.plain('hostname');
    const tag = inject?.plain('tag_key') ?? this.#legacyKey('include_tag_key', 'tag_key', 'tag');
    const time = inject?.plain('time_key') ?? this.#legacyKey('include_time_key', 'time_key', 'time');
    const worker = inject?.plain('worker_id_key');
    if (host)
      this.before.push(`${vrlPath([host])} = ${name === undefined ? 'get_hostname!()' : vrlString(name)}`);
    if (worker) this.before.push(`${vrlPath([worker])} = 0`);
    if (tag) this.before.push(`${vrlPath([tag])} = ${TAG}`);
    if (time) this.before.push(`${vrlPath([time])} = ${this.#timeValue(inject)}`);
    inject?.ignore('localtime', 'timezone', 'utc');
  }

  #legacyKey(flag: string, key: string, fallback: string): string | undefined {
    const isOn = this.section.bool(flag, false);
    return isOn ? (this.section.plain(key) ?? fallback) : undefined;
  }

  #timeValue(inject: Section | undefined): string {
    const type = inject?.plain('time_type') ?? (inject ? 'float' : 'string');
    const format = (inject ?? this.section).plain('time_format');
    const units: Readonly<Record<string, string>> = {
      unixtime: 'seconds',
      unixtime_millis: 'milliseconds',
      unixtime_micros: 'microseconds',
      unixtime_nanos: 'nanoseconds',
    };
    const unit = units[type];
    if (unit) return `to_unix_timestamp(${TIME_VALUE}, unit: "${unit}")`;
    if (type === 'float' && format === undefined)
      return `to_unix_timestamp(${TIME_VALUE}, unit: "microseconds") / 1000000.0`;
    return format === undefined ? TIME : this.formattedTime(format);
  }

  /** A format without counterpart gives RFC 3339. */
  formattedTime(format: string): string {
    const translated = translateTimeFormat(format, 'format');
    if (!translated) {
      this.draft.difference(
        `The time format ${format} has no counterpart; times are written as in RFC 3339.`,
        this.section.line,
      );
      return TIME;
    }
    return `format_timestamp!(${TIME_VALUE}, format: ${vrlString(translated.format)})`;
  }
}

/** A template that begins with a field lets events choose where they go; the engine wants that to be said. */
export const unconfined = (...templates: readonly (string | undefined)[]): Record<string, unknown> =>
  templates.some((template) => template?.replace(/^\/*/, '').startsWith('{{'))
    ? { dangerously_allow_unconfined_template_resolution: true }
    : {};

export const ifSet = (name: string, value: unknown): Record<string, unknown> =>
  value === undefined ? {} : { [name]: value };
