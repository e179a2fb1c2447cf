/**
 * The options of a component against the schema of an engine: unknown names and values of another type. It walks the
 * value, so that a message names the option that is wrong, and the arm of a choice that is nearest to what is written.
 */
import { isRecord } from '../../../platform/text/is-record.ts';
import { nearest } from '../../../platform/text/nearest-name.ts';
import { isSchema, type Schema, schemasOf } from './form-schema.ts';
import { expected, longer, MAX_NAMES, oneOf, optionPath, quoteHint } from './option-messages.ts';
import { kindOf, SchemaReader, typesIn } from './option-schema.ts';

export interface OptionFinding {
  /** `warning`: the engine ignores the option, or the schema does not say that it refuses it. */
  severity: 'error' | 'warning';
  kind: 'unknown' | 'value' | 'range' | 'missing' | 'template';
  /** From the root of what was checked. */
  path: string[];
  message: string;
  hint: string;
}

const MAX_DEPTH = 40;
const MAX_FINDINGS = 20;
const ASCII_CHARACTER = /^[^\u{80}-\u{10ffff}]$/su;
/** What is replaced before the engine reads a value, so that its type is not known here. `$$` is a dollar. */
const PLACEHOLDER = /\$\{|(?<!\$)(?:\$\$)*\$[\w.]|SECRET\[/;
/** Maps of options for which engines take `true` or `false` as well, as a short form that no schema tells. */
const SWITCHES = new Set(['acknowledgements', 'healthcheck', 'use_otlp_decoding']);
const OPT_OUT = 'dangerously_allow_unconfined_template_resolution';
/**
 * Options whose value decides where an event goes. Since 0.57 an engine does not start where one begins with a field of
 * the event, unless the component opts out. Of other templates the schema does not say whether they are confined.
 */
const ROUTING = new Set([
  'path',
  'uri',
  'topic',
  'subject',
  'key',
  'key_prefix',
  'index',
  'database',
  'table',
  'group_name',
  'stream_name',
  'labels',
]);

/** What the parts of an object's schema say together. */
interface Shape {
  known: Map<string, Schema[]>;
  /** Of names that no part knows. */
  rest: Schema[];
  isClosed: boolean;
  required: Set<string>;
}

const emptyShape = (): Shape => ({ known: new Map(), rest: [], isClosed: false, required: new Set() });

function merge(into: Shape, from: Shape): void {
  for (const [name, schemas] of from.known)
    into.known.set(name, [...(into.known.get(name) ?? []), ...schemas]);
  into.rest.push(...from.rest);
  into.isClosed ||= from.isClosed;
  for (const name of from.required) into.required.add(name);
}

const fits = (type: string, value: unknown): boolean =>
  type === kindOf(value) || (type === 'integer' && Number.isInteger(value));

export class OptionSchema {
  readonly #document: Schema;
  readonly #reader: SchemaReader;

  /** `document` as `compactSchema` gives it. */
  constructor(document: Schema) {
    this.#document = document;
    this.#reader = new SchemaReader(document);
  }

  /** A component with its `type`, as the config has it. Nothing is said of a type that the schema does not have. */
  component(section: string, key: string, value: Record<string, unknown>): OptionFinding[] {
    const outer = this.#section(section);
    if (!outer || !this.#reader.knows(outer, value.type)) return [];
    const path = [section, key];
    const found = this.#check([outer], value, path, 0);
    const confined = this.#shape([outer], value, path, 0).shape.known.has(OPT_OUT);
    if (confined && value[OPT_OUT] !== true) found.push(...this.#unconfined(value, outer, path, value));
    return found.slice(0, MAX_FINDINGS);
  }

  /** The other sections of a config. `path` is where they are written. */
  global(value: Record<string, unknown>, path: string[]): OptionFinding[] {
    return this.#check([this.#document], value, path, 0).slice(0, MAX_FINDINGS);
  }

  #section(section: string): Schema | null {
    const { shape } = this.#shape([this.#document], {}, [], 0);
    for (const schema of shape.known.get(section) ?? []) {
      const { rest } = this.#shape([schema], {}, [], 0).shape;
      if (rest[0]) return rest[0];
    }
    return null;
  }

  /** All findings of a value: its own, and those of what it holds. */
  #check(schemas: readonly Schema[], value: unknown, path: string[], depth: number): OptionFinding[] {
    if (depth > MAX_DEPTH) return [];
    const { findings, shape } = this.#shape(schemas, value, path, depth);
    if (!isRecord(value)) return findings;
    return [...findings, ...this.#names(shape, value, path), ...this.#inside(shape, value, path, depth)];
  }

  #names(shape: Shape, value: Record<string, unknown>, path: string[]): OptionFinding[] {
    if (shape.rest.length > 0 || shape.known.size === 0) return [];
    const names = [...shape.known.keys()].filter((name) => name !== OPT_OUT);
    const free = names.filter((name) => !Object.hasOwn(value, name)).sort();
    return Object.keys(value).flatMap((name): OptionFinding[] => {
      if (shape.known.has(name)) return [];
      const more = free.length > MAX_NAMES ? ', …' : '';
      const others =
        free.length > 0 ? `there are: ${free.slice(0, MAX_NAMES).join(', ')}${more}` : 'remove it';
      const near = nearest(name, names) ?? longer(name, names);
      return [
        {
          severity: shape.isClosed ? 'error' : 'warning',
          kind: 'unknown',
          path: [...path, name],
          message: `unknown option \`${name.slice(0, 100)}\` in \`${optionPath(path)}\``,
          hint: near === null ? others : `did you mean \`${near}\`?`,
        },
      ];
    });
  }

  #inside(shape: Shape, value: Record<string, unknown>, path: string[], depth: number): OptionFinding[] {
    const missing = [...shape.required].flatMap((name): OptionFinding[] =>
      // Where a choice is made by a word, an engine may have one that stands for none.
      Object.hasOwn(value, name) ||
      shape.known.get(name)?.some((schema) => 'const' in schema || schema.hasDefault === true)
        ? []
        : [
            {
              severity: 'error',
              kind: 'missing',
              path: [...path, name],
              message: `the option \`${name}\` of \`${optionPath(path)}\` is missing`,
              hint: 'the engine does not start without it',
            },
          ],
    );
    const inner = Object.entries(value).flatMap(([name, one]) => {
      const schemas = shape.known.get(name) ?? shape.rest;
      return schemas.length > 0 ? this.#check(schemas, one, [...path, name], depth + 1) : [];
    });
    return [...missing, ...inner];
  }

  /** What the schemas say of the value itself, and, of a map, of its names. */
  #shape(
    schemas: readonly Schema[],
    value: unknown,
    path: string[],
    depth: number,
  ): { findings: OptionFinding[]; shape: Shape } {
    const shape = emptyShape();
    const findings: OptionFinding[] = [];
    for (const schema of schemas) {
      const one = this.#shapeOf(schema, value, path, depth);
      findings.push(...one.findings);
      merge(shape, one.shape);
    }
    return { findings, shape };
  }

  #shapeOf(
    schema: Schema,
    value: unknown,
    path: string[],
    depth: number,
    isPart = false,
  ): { findings: OptionFinding[]; shape: Shape } {
    const shape = emptyShape();
    if (depth > MAX_DEPTH || (typeof value === 'string' && PLACEHOLDER.test(value))) {
      return { findings: [], shape };
    }
    if (typeof value === 'boolean' && SWITCHES.has(path.at(-1) ?? '')) return { findings: [], shape };
    const findings = this.#own(schema, value, path);
    if (findings.length > 0) return { findings, shape };
    const parts = schemasOf(schema.allOf);
    const target = this.#reader.target(schema);
    if (target) parts.push(target);
    for (const part of parts) {
      const below = this.#shapeOf(part, value, path, depth + 1, isPart || part !== target);
      findings.push(...below.findings);
      merge(shape, below.shape);
    }
    const arms = schemasOf(schema.oneOf ?? schema.anyOf);
    if (arms.length > 0) {
      const chosen = this.#choose(schema, arms, value, path, depth);
      // Options that may be left out as a whole: some of them alone are none of them.
      const isOptional = isPart && arms.some((arm) => arm.type === 'null');
      if (!isOptional) findings.push(...chosen.findings);
      merge(shape, isOptional ? { ...chosen.shape, required: new Set() } : chosen.shape);
    }
    if (Array.isArray(value) && isSchema(schema.items)) {
      const { items } = schema;
      findings.push(
        ...value.flatMap((item, index) => this.#check([items], item, [...path, String(index)], depth + 1)),
      );
    }
    if (isSchema(schema.properties)) {
      for (const [name, one] of Object.entries(schema.properties)) {
        if (isSchema(one)) shape.known.set(name, [...(shape.known.get(name) ?? []), one]);
      }
    }
    if (Array.isArray(schema.required)) for (const name of schema.required) shape.required.add(String(name));
    if (isSchema(schema.additionalProperties)) shape.rest.push(schema.additionalProperties);
    if (schema.additionalProperties === true) shape.rest.push({});
    shape.isClosed ||= schema.unevaluatedProperties === false || schema.additionalProperties === false;
    return { findings, shape };
  }

  #own(schema: Schema, value: unknown, path: string[]): OptionFinding[] {
    const wrong = (message: string, hint: string): OptionFinding[] => [
      { severity: 'error', kind: 'value', path, message: `\`${optionPath(path)}\` ${message}`, hint },
    ];
    const types = typesIn(schema);
    if (types && !types.some((type) => fits(type, value)))
      return wrong(expected(types, value), quoteHint(types, value));
    const allowed = 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : null;
    if (allowed && !allowed.includes(value)) return wrong(...oneOf(allowed, value));
    if (schema.isCharacter === true && typeof value === 'string' && !ASCII_CHARACTER.test(value))
      return wrong('must be one ASCII character', 'here it is another text');
    if (typeof value !== 'number') return [];
    const beyond = (message: string) =>
      wrong(message, `here it is ${value}`).map((finding) => ({ ...finding, kind: 'range' as const }));
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
    if (typeof minimum === 'number' && value < minimum) return beyond(`must be at least ${minimum}`);
    if (typeof maximum === 'number' && value > maximum) return beyond(`must be at most ${maximum}`);
    if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
      return beyond(`must be more than ${exclusiveMinimum}`);
    if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
      return beyond(`must be less than ${exclusiveMaximum}`);
    return [];
  }

  /** The arm that the value fits, else what is wrong by the nearest. */
  #choose(
    schema: Schema,
    arms: readonly Schema[],
    value: unknown,
    path: string[],
    depth: number,
  ): { findings: OptionFinding[]; shape: Shape } {
    const tagged = this.#reader.tagged(schema);
    if (tagged && isRecord(value) && typeof value[tagged.field] === 'string') {
      const word = value[tagged.field] as string;
      const arm = tagged.arms.get(word);
      if (arm) return this.#shapeOf(arm, value, path, depth + 1);
      if (PLACEHOLDER.test(word)) return { findings: [], shape: emptyShape() };
      if (tagged.arms.size === arms.filter((arm) => this.#reader.typesOf(arm).has('object')).length) {
        return this.#wrong([...path, tagged.field], ...oneOf([...tagged.arms.keys()], word));
      }
    }
    const tried = arms.map((arm) => {
      const { findings, shape } = this.#shapeOf(arm, value, path, depth + 1);
      const inner = isRecord(value) ? this.#inside(shape, value, path, depth + 1) : [];
      const strange = isRecord(value)
        ? Object.keys(value).filter((name) => !shape.known.has(name)).length
        : 0;
      return { arm, findings, shape, faults: findings.length + inner.length, strange };
    });
    const good = tried.filter(({ faults }) => faults === 0);
    if (good.length > 0) {
      const best = good.reduce((a, b) => (b.strange < a.strange ? b : a));
      return { findings: [], shape: best.shape };
    }
    const words = arms.flatMap((arm) => this.#reader.words(arm));
    const types = new Set(arms.flatMap((arm) => [...this.#reader.typesOf(arm)]));
    const possible = tried.filter(({ arm }) => {
      const known = this.#reader.typesOf(arm);
      return known.size === 0 || [...known].some((type) => fits(type, value));
    });
    if (
      typeof value === 'string' &&
      words.length > 0 &&
      possible.every(({ arm }) => this.#reader.words(arm).length > 0)
    ) {
      return this.#wrong(path, ...oneOf(words, value));
    }
    if (possible.length === 0) {
      return this.#wrong(path, expected([...types], value), quoteHint([...types], value));
    }
    const [first, ...others] = possible;
    const best = others.reduce(
      (a, b) => ((b.faults - a.faults || b.strange - a.strange) < 0 ? b : a),
      first!,
    );
    return { findings: best.findings, shape: best.shape };
  }

  #wrong(path: string[], message: string, hint: string): { findings: OptionFinding[]; shape: Shape } {
    return {
      findings: [
        { severity: 'error', kind: 'value', path, message: `\`${optionPath(path)}\` ${message}`, hint },
      ],
      // Its names are not known: one error is reported once.
      shape: { ...emptyShape(), rest: [{}] },
    };
  }

  /** Templates of a component that confines them and that begin with a field of the event. */
  #unconfined(
    value: unknown,
    schema: Schema,
    path: string[],
    component: Record<string, unknown>,
  ): OptionFinding[] {
    const found: OptionFinding[] = [];
    const visit = (one: unknown, schemas: readonly Schema[], at: string[], depth: number): void => {
      if (depth > MAX_DEPTH) return;
      if (typeof one === 'string') {
        if (!/^\{\{/.test(one) || !schemas.some((each) => this.#reader.isTemplate(each))) return;
        const option = at.find((name, index) => index > 1 && ROUTING.has(name));
        const isFile = component.type === 'file';
        if (isFile && component.base_dir !== undefined) return;
        found.push({
          severity: option === undefined ? 'warning' : 'error',
          kind: 'template',
          path: at,
          message: `the template in \`${optionPath(at)}\` has no literal prefix: since Vector 0.57 an engine does not start with it`,
          hint: `begin it with fixed text${isFile ? ', or set `base_dir`' : ''}; \`${OPT_OUT}: true\` turns the check off`,
        });
        return;
      }
      if (Array.isArray(one)) {
        const items = schemas.flatMap((each) => this.#reader.items(each));
        for (const [index, item] of one.entries()) visit(item, items, [...at, String(index)], depth + 1);
      } else if (isRecord(one)) {
        const { shape } = this.#shape(schemas, one, at, depth);
        for (const [name, inner] of Object.entries(one)) {
          visit(inner, shape.known.get(name) ?? shape.rest, [...at, name], depth + 1);
        }
      }
    };
    visit(value, [schema], path, 0);
    return found;
  }
}
