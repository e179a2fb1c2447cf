export {
  type EmbeddedRepository,
  ensureEmbeddedRepository,
  gitEnvironment,
  seedRepository,
} from './embedded.ts';
