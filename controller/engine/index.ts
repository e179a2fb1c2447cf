export {
  createEngineChecks,
  type EngineChecks,
  type EngineValidation,
  type Program,
  type ProgramResult,
} from './checks.ts';
