/** What the log of one engine tells about it: why it ended, what it warned of, and which part of it does not run. */
import type { EngineComponent, LogRecord } from './engine-log.ts';
import { describeRecord, RECORD, RecordReader } from './engine-log.ts';

/** Where a component listens, by the config. */
export type AddressOf = (component: EngineComponent, message: string) => string | undefined;

/** Errors kept of one run. */
const KEPT_ERRORS = 50;
/** Configuration errors of one start that are reported. */
const REPORTED_ERRORS = 5;
const MOST_WARNINGS = 20;
const WARNING_CHARS = 1_024;
const DEGRADED_CHARS = 4_096;

const SUPPRESSED = /^Internal log \[.*\] (?:is being|has been) suppressed/s;
/** Lines that end a run and name no cause: the error of the same component before them does. */
const GENERIC =
  /^(?:An error occurred that Vector couldn't handle: the task|Sinks unhealthy|Reload was not successful|Failed to load config files|Failed to gracefully shut down)/;
const FATAL = /^An error occurred that Vector couldn't handle\./;
/** A source that has lost one of its listeners and runs on with the others. */
const DEGRADED = /^OpenTelemetry source (?:gRPC|HTTP) server failed/;
/** Where a config is loaded and components are built. */
const OF_CONFIG = /^vector::(?:config|cli|topology::builder)/;
/** Trouble at run time, which metrics and logs show. */
const RUNTIME_TARGET = /^vector::(?:internal_events|topology::running|sinks::util::retries)/;
const ADVICE =
  /deprecat|suggest|recommend|will be removed|no longer|has no effect|ignored|unknown|could result/i;
const BIND = /bind|os error (?:13|98|99)|TcpBind/i;

export class EngineDiagnosis {
  readonly #reader: RecordReader;
  readonly #addressOf: AddressOf;
  readonly #errors: LogRecord[] = [];
  readonly #warnings: LogRecord[] = [];
  readonly #degraded: LogRecord[] = [];
  #started = false;
  #sourcesFinished = false;
  #lastLine = '';
  #lastErrorLine = '';

  constructor(addressOf: AddressOf = () => undefined) {
    this.#addressOf = addressOf;
    this.#reader = new RecordReader((record) => this.#take(record));
  }

  add(line: string, from: 'stdout' | 'stderr'): void {
    this.#reader.add(line, from);
    if (from === 'stdout') return;
    // A record of the engine is no error by its words: its level tells.
    this.#lastLine = RECORD.test(line) ? '' : line.slice(0, 1_000);
    if (/\berror\b|panicked/i.test(this.#lastLine)) this.#lastErrorLine = this.#lastLine;
  }

  /** Undefined where the engine logged no cause. */
  get cause(): string | undefined {
    const errors = [...this.#errors, ...this.#pending((record) => isError(record))];
    const logged = errors.filter(({ target }) => target !== '');
    if (logged.length === 0) {
      const plain = errors.find(({ message }) => message.startsWith('error: '));
      if (plain) return firstParagraph(plain.message);
      if (this.#sourcesFinished) return 'all its sources have finished';
      return this.#lastErrorLine || this.#lastLine || undefined;
    }
    if (!this.#started) {
      const ofConfig = logged.filter((record) => OF_CONFIG.test(record.target) && !isHealthCheck(record));
      if (ofConfig.length > 0) return this.#list(ofConfig);
    }
    return this.#describe(decisive(logged));
  }

  get warnings(): string[] {
    const records = [...this.#warnings, ...this.#pending((record) => this.#isAdvice(record))];
    return unique(
      records.map((record) => describeRecord(record).slice(0, WARNING_CHARS)),
      MOST_WARNINGS,
    );
  }

  get degraded(): string | null {
    const records = [...this.#degraded, ...this.#pending(({ message }) => DEGRADED.test(message))];
    if (records.length === 0) return null;
    return unique(
      records.map((record) => this.#describe(record)),
      10,
    )
      .join('; ')
      .slice(0, DEGRADED_CHARS);
  }

  #take(record: LogRecord): void {
    const { level, message } = record;
    if (SUPPRESSED.test(message)) return;
    if (message.startsWith('Vector has started.')) this.#started = true;
    if (message.startsWith('All sources have finished.')) this.#sourcesFinished = true;
    if (this.#isAdvice(record) && this.#warnings.length < 2 * MOST_WARNINGS) this.#warnings.push(record);
    if (level !== 'ERROR') return;
    if (DEGRADED.test(message) && this.#degraded.length < 10) this.#degraded.push(record);
    this.#errors.push(record);
    if (this.#errors.length > KEPT_ERRORS) this.#errors.shift();
  }

  #isAdvice({ level, target, message }: LogRecord): boolean {
    if (level !== 'WARN' || SUPPRESSED.test(message) || RUNTIME_TARGET.test(target)) return false;
    return OF_CONFIG.test(target) || ADVICE.test(message);
  }

  #pending(fits: (record: LogRecord) => boolean): LogRecord[] {
    return this.#reader.pending().filter(fits);
  }

  #describe(record: LogRecord): string {
    return describeRecord(record, ({ component, message, error = '' }) => {
      if (!BIND.test(`${message} ${error}`)) return undefined;
      const of = component ?? componentInText(error);
      return of && this.#addressOf(of, message);
    });
  }

  #list(records: readonly LogRecord[]): string {
    const all = unique(
      records.map((record) => this.#describe(record)),
      KEPT_ERRORS,
    );
    const more = all.length - REPORTED_ERRORS;
    return [...all.slice(0, REPORTED_ERRORS), ...(more > 0 ? [`and ${more} more errors`] : [])].join('; ');
  }
}

/** `Source "in": …`, as the builder of components begins. */
function componentInText(error: string): EngineComponent | undefined {
  const [, kind, id] = /^(Source|Transform|Sink) "([^"]+)": /.exec(error) ?? [];
  return id === undefined ? undefined : { kind: kind?.toLowerCase() as EngineComponent['kind'], id };
}

const isError = ({ level, message }: LogRecord) => level === 'ERROR' && !SUPPRESSED.test(message);
const isHealthCheck = ({ message }: LogRecord) => message.startsWith('Healthcheck failed');

/** The error that ended the run: a panic, else what comes before a generic end line, else the last one. */
function decisive(errors: readonly LogRecord[]): LogRecord {
  const last = errors.at(-1) as LogRecord;
  const generic = errors.findIndex(({ message }) => GENERIC.test(message));
  const panic = errors.findLast(({ target }) => target === 'panic');
  if (panic)
    return {
      ...panic,
      component: errors.find(({ message }) => /panicked/.test(message) && GENERIC.test(message))?.component,
    };
  const fatal = errors.find(({ message }) => FATAL.test(message));
  if (fatal) return fatal;
  if (generic === -1) return last;
  const end = errors[generic] as LogRecord;
  const before = errors.slice(0, generic).filter(({ message }) => !GENERIC.test(message));
  const ofSame = before.findLast(({ component }) => !end.component || component?.id === end.component.id);
  return ofSame ?? end;
}

/** What a parser of command lines complains of, without its advice on how to call it. */
function firstParagraph(text: string): string {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => /^(?:Usage:|For more information)/.test(line));
  return lines
    .slice(0, end === -1 ? 5 : end)
    .map((line) => line.trim())
    .join(' ')
    .slice(0, 1_000);
}

function unique(texts: readonly string[], most: number): string[] {
  return [...new Set(texts)].slice(0, most);
}
