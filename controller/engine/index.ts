export type { Catalogue } from './catalogue.ts';
export {
  createEngineChecks,
  type Engine,
  type EngineChecks,
  type EngineValidation,
  type Program,
  type ProgramResult,
} from './checks.ts';
export type { OptionFinding } from './option-checks.ts';
export type { ComponentKind, KnownComponent } from './schema-components.ts';
export type { TransformCase, TransformSuite, Verdict } from './transform-tests/case.ts';
