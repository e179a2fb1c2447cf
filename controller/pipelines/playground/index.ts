export { engineOperations, vrlOperations } from './operations.ts';
