export * as migrationGeneration from './generate-operation.ts';
export * as migrationOperations from './operations.ts';
export * as migrationSamples from './replay/run-samples-operation.ts';
export * as migrationTranslation from './translate-operations.ts';
export * as migrationValidation from './validate-operation.ts';
