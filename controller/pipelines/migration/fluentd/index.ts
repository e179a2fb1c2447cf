/** Reads configurations of Fluentd and translates their blocks by rules. Pure: nothing here asks a database or a network. */
export { listBlocks } from './list-blocks.ts';
export { MAX_CONFIG_BYTES, parseFluentd } from './parse/parse-fluentd.ts';
export { type BlockConnection, connectBlocks, translateBlocks } from './translate-blocks.ts';
