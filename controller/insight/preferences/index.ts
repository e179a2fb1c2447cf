export * as userPreferenceOperations from './preference-operations.ts';
export * as filterPresetOperations from './preset-operations.ts';
