export {
  createEngineChecks,
  type Engine,
  type EngineChecks,
  type EngineValidation,
  type Program,
  type ProgramResult,
} from './checks.ts';
export type { Catalogue } from './schema/catalogue.ts';
export type { OptionFinding } from './schema/option-checks.ts';
export type { ComponentKind, KnownComponent } from './schema/schema-components.ts';
export type { EventRun, TransformRun, TypedEvent } from './transform-tests/run-transform.ts';
export type { TransformCase, TransformSuite, Verdict } from './transform-tests/test-case.ts';
