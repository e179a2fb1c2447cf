import { ConfigError } from './config-error.ts';

export type Table = Record<string, unknown>;

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads a component's options one by one with their type and then refuses what nobody asked for.
 * Errors have the words of Vector's parser and end with the component's path: ``in `sinks.out` ``.
 */
export class OptionReader {
  readonly path: string;
  readonly #table: Table;
  readonly #known = new Set<string>();

  constructor(table: unknown, path: string) {
    if (!isTable(table)) throw mismatch(table, 'a map', path);
    this.#table = table;
    this.path = path;
  }

  has(name: string): boolean {
    this.#known.add(name);
    return this.#table[name] !== undefined && this.#table[name] !== null;
  }

  string(name: string): string | undefined {
    return this.#read(name, 'a string', (value) => (typeof value === 'string' ? value : undefined));
  }

  requiredString(name: string): string {
    return this.string(name) ?? this.#missing(name);
  }

  boolean(name: string, fallback: boolean): boolean {
    return (
      this.#read(name, 'a boolean', (value) => (typeof value === 'boolean' ? value : undefined)) ?? fallback
    );
  }

  /** A finite number of at least `minimum`. */
  number(name: string, fallback: number, minimum = 0): number {
    const read = this.#read(name, `a number of at least ${minimum}`, (value) =>
      typeof value === 'number' && Number.isFinite(value) && value >= minimum ? value : undefined,
    );
    return read ?? fallback;
  }

  /** A whole number of at least `minimum`. */
  integer(name: string, fallback: number, minimum = 0): number {
    const read = this.#read(name, `an integer of at least ${minimum}`, (value) =>
      Number.isSafeInteger(value) && Number(value) >= minimum ? Number(value) : undefined,
    );
    return read ?? fallback;
  }

  oneOf<T extends string>(name: string, variants: readonly T[], fallback?: T): T {
    const value = this.string(name) ?? fallback;
    if (value === undefined) return this.#missing(name);
    const variant = variants.find((known) => known === value);
    if (variant === undefined) throw unknownVariant(value, variants, this.path);
    return variant;
  }

  strings(name: string): string[] | undefined {
    return this.#read(name, 'a sequence of strings', (value) => {
      if (!Array.isArray(value)) return undefined;
      const texts = value.filter((item): item is string => typeof item === 'string');
      return texts.length === value.length ? texts : undefined;
    });
  }

  /** The reader of a nested map; a missing one reads as empty. Call its `finish` too. */
  nested(name: string): OptionReader {
    this.#known.add(name);
    return new OptionReader(this.#table[name] ?? {}, this.path);
  }

  raw(name: string): unknown {
    this.#known.add(name);
    return this.#table[name] ?? undefined;
  }

  /** Refuses options that Vector has and this engine does not, by their name. */
  unsupported(...names: string[]): void {
    const name = names.find((known) => this.#table[known] !== undefined && this.#table[known] !== null);
    if (name !== undefined) this.fail(`option "${name}" is not available in headgate-engine`);
  }

  /** An error about this component in the parser's shape. */
  fail(message: string): never {
    throw new ConfigError(`${message}\nin \`${this.path}\``);
  }

  /** Refuses fields that were never read. Call last. */
  finish(): void {
    const known = [...this.#known].sort();
    const unknown = Object.keys(this.#table).find((name) => !this.#known.has(name));
    if (unknown === undefined) return;
    throw new ConfigError(`unknown field \`${unknown}\`, expected ${oneOfList(known)}\nin \`${this.path}\``);
  }

  #read<T>(name: string, expected: string, accept: (value: unknown) => T | undefined): T | undefined {
    this.#known.add(name);
    const value = this.#table[name];
    if (value === undefined || value === null) return undefined;
    const accepted = accept(value);
    if (accepted === undefined) throw mismatch(value, `${expected} for \`${name}\``, this.path);
    return accepted;
  }

  #missing(name: string): never {
    return this.fail(`missing field \`${name}\``);
  }
}

export function unknownVariant(value: string, variants: readonly string[], path: string): ConfigError {
  return new ConfigError(
    `unknown variant \`${value.slice(0, 100)}\`, expected ${oneOfList(variants)}\nin \`${path}\``,
  );
}

function oneOfList(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  if (quoted.length === 0) return 'no field';
  return quoted.length === 1 ? quoted[0]! : `one of ${quoted.join(', ')}`;
}

// Names the kind of a value and not the value: it may be an expanded secret.
function mismatch(value: unknown, expected: string, path: string): ConfigError {
  return new ConfigError(`invalid type: ${kindOf(value)}, expected ${expected}\nin \`${path}\``);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'unit value';
  if (Array.isArray(value)) return 'sequence';
  if (typeof value === 'number')
    return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
  if (typeof value === 'boolean') return `boolean \`${value}\``;
  return typeof value === 'string' ? 'string' : 'map';
}
