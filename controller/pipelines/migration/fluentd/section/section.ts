/** A directive as rules read it: by name and type, with notes about what has no counterpart. */
import { secretVariable } from '../../../../../schemas/pipelines/secret-variable.ts';
import type { ConfigDirective, ConfigParam } from '../config-tree.ts';
import { paramOf, readArray, readBool, readHash, readInteger, readSize, readTime } from '../params.ts';
import type { Draft } from '../rules/draft.ts';
import { escapeDollar, stringContent } from '../text/vrl.ts';
import { readEmbedded, splitEmbedded } from './environment.ts';

/** Parameters of every plugin that have no effect on events. */
const COMMON: readonly string[] = [
  ...['@type', 'type', '@id', 'id', '@label', '@log_level', 'log_level', '@include'],
  ...['slow_flush_log_threshold', 'num_threads', 'ignore_error'],
];

export class Section {
  readonly directive: ConfigDirective;
  readonly #draft: Draft;
  readonly #known = new Set(COMMON);
  /** The children that a rule has asked for. */
  readonly #sections = new Map<ConfigDirective, Section>();

  constructor(directive: ConfigDirective, draft: Draft) {
    this.directive = directive;
    this.#draft = draft;
  }

  get line(): number {
    return this.directive.line;
  }

  /** `@type`, without a prefix. */
  get plugin(): string {
    return (this.param('@type') ?? this.param('type'))?.value ?? '';
  }

  param(...keys: readonly string[]): ConfigParam | undefined {
    for (const key of keys) this.#known.add(key);
    for (const key of keys) {
      const param = paramOf(this.directive, key);
      if (param) return param;
    }
    return undefined;
  }

  lineOf(key: string): number {
    return paramOf(this.directive, key)?.line ?? this.directive.line;
  }

  has(key: string): boolean {
    return this.param(key) !== undefined;
  }

  /** As it stands there. Embedded Ruby with a default is that default; other Ruby is an empty text, with a note. */
  plain(...keys: readonly string[]): string | undefined {
    const param = this.param(...keys);
    if (!param || param.embeddedRuby.length === 0) return param?.value;
    const [first, ...more] = splitEmbedded(param.value, param.embeddedRuby);
    const whole = typeof first === 'object' && more.length === 0 ? readEmbedded(first.code) : null;
    if (whole?.kind === 'text') return whole.value;
    if (whole?.kind === 'env') {
      if (whole.fallback === null) {
        this.#draft.difference(
          `${param.key} comes from the environment variable ${whole.name}; its default is used here, write the value that it has.`,
          param.line,
        );
        return undefined;
      }
      this.#draft.difference(
        `${param.key} is the default of the environment variable ${whole.name}; write the value that it has if it is set.`,
        param.line,
        'small',
      );
      return whole.fallback;
    }
    return this.#joined(
      param,
      (text) => text,
      (variable, fallback) => fallback ?? variable,
    );
  }

  /** As an option of a component: dollars are doubled, variables of the environment become secrets. */
  text(...keys: readonly string[]): string | undefined {
    const param = this.param(...keys);
    return param === undefined ? undefined : this.textOf(param);
  }

  textOf(param: ConfigParam): string {
    return this.#joined(param, escapeDollar, placeholder);
  }

  /** As the inside of a VRL string. */
  vrlContentOf(param: ConfigParam): string {
    return this.#joined(param, stringContent, placeholder);
  }

  #joined(
    param: ConfigParam,
    write: (text: string) => string,
    variable: (name: string, fallback: string | null) => string,
  ): string {
    if (param.embeddedRuby.length === 0) return write(param.value);
    return splitEmbedded(param.value, param.embeddedRuby)
      .map((part) => {
        if (typeof part === 'string') return write(part);
        const embedded = readEmbedded(part.code);
        switch (embedded.kind) {
          case 'text':
            return write(embedded.value);
          case 'hostname':
            return `\${HOSTNAME}`;
          case 'worker':
            this.#draft.info('The number of the worker is 0: there are no workers here.', param.line);
            return '0';
          case 'env':
            this.#draft.action(
              `Create the secret "${secretName(embedded.name)}" with the value of the environment variable ${embedded.name}${embedded.fallback === null ? '' : '; without it the default is used'}.`,
              param.line,
            );
            return variable(embedded.name, embedded.fallback);
          default:
            this.#draft.open(
              `The Ruby in ${param.key} cannot be evaluated here; write its value.`,
              param.line,
            );
            return '';
        }
      })
      .join('');
  }

  /** A credential never goes into a component: it becomes a secret that a user has to create. */
  secret(...keys: readonly string[]): string | undefined {
    const param = this.param(...keys);
    if (!param || param.value === '') return undefined;
    const [part, ...more] = splitEmbedded(param.value, param.embeddedRuby);
    const embedded = typeof part === 'object' && more.length === 0 ? readEmbedded(part.code) : null;
    const name =
      embedded?.kind === 'env'
        ? secretName(embedded.name)
        : this.#draft.claimSecret(secretName(`${this.#draft.key}-${param.key}`), param.line);
    this.#draft.action(
      embedded?.kind === 'env'
        ? `Create the secret "${name}" with the value of the environment variable ${embedded.name}.`
        : `Create the secret "${name}" with the value of ${param.key}.`,
      param.line,
    );
    return `\${${secretVariable(name)}}`;
  }

  /** For a credential inside of a parameter, such as a header. */
  secretFor(name: string, line: number): string {
    const secret = this.#draft.claimSecret(secretName(`${this.#draft.key}-${name}`), line);
    this.#draft.action(`Create the secret "${secret}" with the value of ${name}.`, line);
    return `\${${secretVariable(secret)}}`;
  }

  bool(key: string, fallback: boolean): boolean {
    return this.#read(key, readBool, 'true or false') ?? fallback;
  }

  integer(...keys: readonly string[]): number | undefined {
    return this.#read(keys, readInteger, 'a whole number');
  }

  /** In bytes. */
  size(...keys: readonly string[]): number | undefined {
    return this.#read(keys, readSize, 'a size');
  }

  /** In seconds. */
  time(...keys: readonly string[]): number | undefined {
    return this.#read(keys, readTime, 'a duration');
  }

  array(key: string): string[] | undefined {
    const raw = this.plain(key);
    return raw === undefined ? undefined : readArray(raw);
  }

  hash(key: string): Record<string, unknown> | undefined {
    const raw = this.plain(key);
    return raw === undefined ? undefined : readHash(raw);
  }

  #read<T>(keys: string | readonly string[], read: (text: string) => T | null, type: string): T | undefined {
    const list = typeof keys === 'string' ? [keys] : keys;
    const raw = this.plain(...list);
    if (raw === undefined) return undefined;
    const value = read(raw);
    if (value !== null) return value;
    this.#draft.difference(
      `${list[0]} is not ${type}; its default is used.`,
      this.lineOf(list[0] ?? ''),
      'small',
    );
    return undefined;
  }

  child(name: string): Section | undefined {
    return this.children(name).at(-1);
  }

  children(...names: readonly string[]): Section[] {
    return this.directive.children
      .filter((child) => names.includes(child.name))
      .map((child) => {
        const section = this.#sections.get(child) ?? new Section(child, this.#draft);
        this.#sections.set(child, section);
        return section;
      });
  }

  /** Parameters that need no counterpart here. */
  ignore(...keys: readonly string[]): void {
    for (const key of keys) this.#known.add(key);
  }

  ignoreChildren(...names: readonly string[]): void {
    for (const section of this.children(...names)) section.ignoreAll();
  }

  /** All parameters are read in another way. */
  ignoreAll(): void {
    for (const { key } of this.directive.params) this.#known.add(key);
    this.ignoreChildren(...this.directive.children.map(({ name }) => name));
  }

  /** Notes what no rule has read. */
  noteUnread(): void {
    const where = `<${this.directive.name}>`;
    for (const { key, line } of this.directive.params) {
      if (!this.#known.has(key))
        this.#draft.difference(`${key} in ${where} has no counterpart here.`, line, 'small');
    }
    for (const child of this.directive.children) {
      if (this.#sections.has(child)) continue;
      this.#draft.difference(`<${child.name}> in ${where} has no counterpart here.`, child.line);
    }
    for (const section of this.#sections.values()) section.noteUnread();
  }
}

/** `DB_PASSWORD` is the secret `db-password`, whose variable is `SVC_SECRET_DB_PASSWORD`. */
const secretName = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

const placeholder = (name: string, fallback: string | null): string =>
  `\${${secretVariable(secretName(name))}${fallback === null || /[}$"\\]/.test(fallback) ? '' : `:-${fallback}`}}`;
