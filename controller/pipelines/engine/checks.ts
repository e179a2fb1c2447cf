/** What an engine thinks of a pipeline before any node runs it: its programs compiled, its config loaded. */
import { parse } from 'yaml';
import type { Logger } from '../../platform/runtime/logger.ts';
import { type CatalogueReader, createCatalogueReader } from './schema/catalogue.ts';
import { explainUntagged, UNTAGGED } from './schema/explain-untagged.ts';
import { KNOWN_COMPONENTS } from './schema/known-components.ts';
import type { ComponentKind } from './schema/schema-components.ts';
import type { TransformRun, TypedEvent } from './transform-tests/run-transform.ts';
import { createTestRunner, type TestRunner } from './transform-tests/runner.ts';
import { metadataKeyOf, type TransformCase } from './transform-tests/test-case.ts';
import { stepOf } from './transform-tests/transform-step.ts';
import { createConfigValidator } from './validate-config.ts';
import { reviewByEngine } from './vrl/review-by-engine.ts';
import { createVrlCompiler } from './vrl/vrl-compiler.ts';
import { takenByEngineOnly, type VrlTest } from './vrl/vrl-test.ts';
import { createVrlTester } from './vrl/vrl-tester.ts';

export interface Program {
  source: string;
  purpose: 'program' | 'condition';
}
export interface ProgramResult {
  errors: { message: string; line: number; column: number; hint: string }[];
  /** Functions that only the compiler at hand lacks. */
  unknown: string[];
}
export type EngineValidation =
  | {
      status: 'checked';
      checker: string;
      errors: { message: string; componentKey: string | null }[];
      unknown: string[];
    }
  | { status: 'unavailable'; detail: string };

export interface EngineChecks {
  /** The name of the VRL compiler, for messages. */
  readonly vrlName: string;
  /** One result per program, in order. */
  compilePrograms(programs: readonly Program[], signal?: AbortSignal): Promise<ProgramResult[]>;
  validateConfig(configYaml: string, signal?: AbortSignal): Promise<EngineValidation>;
  optionSchema: CatalogueReader['optionSchema'];
  testTransforms: TestRunner['testTransforms'];
  /** Whether the engine here, or Vector by its usual components, has a type. */
  knowsType(kind: ComponentKind, type: string): Promise<boolean>;
  /** Somebody is about to change pipelines: what checks them may come up meanwhile. */
  prepare(): void;
  stop(): Promise<void>;
}

/** What the controller knows of its engine, and does with it. */
export interface Engine extends EngineChecks, Pick<CatalogueReader, 'catalogue' | 'componentSchema'> {
  /** Runs a program on the JSON of one object; `caller` may have four under way. Throws TOO_MANY_REQUESTS beyond that. */
  testProgram(program: Program, event: string, caller: string): Promise<VrlTest>;
  /** What leaves a transform for each event, as far as the VRL compiler at hand can run it. Limits as above. */
  runTransform(
    transform: Pick<TransformCase, 'key' | 'type' | 'options'>,
    events: readonly TypedEvent[],
    caller: string,
  ): Promise<TransformRun>;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    engine: Engine;
  }
}

const KINDS = [
  ['sources', 'SOURCE'],
  ['transforms', 'TRANSFORM'],
  ['sinks', 'SINK'],
] as const;

export function createEngineChecks(options: { engineBin: string | null; log: Logger }): Engine {
  const compiler = createVrlCompiler(options.log);
  const tester = createVrlTester(options.log);
  const runner = createTestRunner(options);
  const validator = createConfigValidator(options);
  const reader = createCatalogueReader(options);
  /** Whether the engine compiles what the compiler at hand refuses. */
  async function compiles(program: Program): Promise<boolean> {
    const found = await compiler.compile([program]);
    if (found[0]?.errors.length === 0) return false;
    const [result] = await reviewByEngine(validator.validate, [program], found);
    return result?.errors.length === 0;
  }

  /** The engine's schema, where it is available: it explains options that the engine's errors do not. */
  async function explained(configYaml: string, result: EngineValidation): Promise<EngineValidation> {
    if (result.status !== 'checked' || !result.errors.some(({ message }) => UNTAGGED.test(message)))
      return result;
    const config = parse(configYaml) as Record<string, Record<string, { type?: unknown }> | undefined>;
    const errors = await Promise.all(
      result.errors.map(async (error) => {
        const key = error.componentKey ?? '';
        const kind = KINDS.find(([section]) => Object.hasOwn(config[section] ?? {}, key));
        if (!kind) return error;
        const [section, name] = kind;
        const { type, inputs: _, ...component } = (config[section]?.[key] ?? {}) as Record<string, unknown>;
        const found = await reader.componentSchema(name, String(type)).catch(() => null);
        if (!found) return error;
        return {
          ...error,
          message: explainUntagged(error.message, `${section}.${key}`, component, found.schema),
        };
      }),
    );
    return { ...result, errors };
  }

  return {
    catalogue: reader.catalogue,
    componentSchema: reader.componentSchema,
    optionSchema: reader.optionSchema,
    async testProgram(program, event, caller) {
      const test = await tester.test(program, event, caller);
      if (options.engineBin === null || !test.diagnostics.some(({ severity }) => severity === 'error'))
        return test;
      if (test.success || !(await compiles(program))) return test;
      return takenByEngineOnly(test);
    },
    async runTransform(transform, events, caller) {
      const step = stepOf(transform);
      if (typeof step === 'string') return { status: 'unknown', reason: step };
      const played = { key: transform.key, step, metadataKey: metadataKeyOf({}) };
      return tester.run(played, events, caller);
    },
    testTransforms: runner.testTransforms,
    async knowsType(kind, type) {
      const { components } = await reader.catalogue();
      return [...components, ...KNOWN_COMPONENTS].some(
        (component) => component.kind === kind && component.type === type,
      );
    },
    vrlName: compiler.name,
    async compilePrograms(programs, signal) {
      const results = await compiler.compile(programs);
      return options.engineBin === null
        ? results
        : reviewByEngine(validator.validate, programs, results, signal);
    },
    async validateConfig(configYaml, signal) {
      return explained(configYaml, await validator.validate(configYaml, signal));
    },
    prepare() {
      validator.prepare();
      // Where it is not available, its users report that.
      reader.optionSchema().catch(() => {});
    },
    async stop() {
      validator.stop();
      reader.stop();
      tester.stop();
      runner.stop();
      compiler.stop();
    },
  };
}
