/** Parses an original and translates its blocks by rules, which may keep a processor busy for seconds. */
import type { ConfigProblem } from './fluentd/config-tree.ts';
import { connectBlocks, listBlocks, parseFluentd, translateBlocks } from './fluentd/index.ts';
import { runInThread } from './run-in-thread.ts';
import type { StoredTranslation } from './store.ts';
import type { MigrationBlock } from './translation.ts';

/** The worst of 500 KB takes 3 s on a machine that does nothing else. */
const LIMIT_MS = 30_000;
/** Characters. Loading the rules into a thread takes longer than to read as much. */
const SMALL = 4_096;

export interface OriginalAnalysis {
  problems: readonly ConfigProblem[];
  blocks: MigrationBlock[];
  /** One for each block, in their order. */
  translations: StoredTranslation[];
}

export function analyze(text: string): OriginalAnalysis {
  const tree = parseFluentd(text);
  const blocks = listBlocks(text, tree);
  const connections = new Map(connectBlocks(tree, blocks).map((one) => [one.blockId, one]));
  const translations = translateBlocks(tree, blocks).map((one): StoredTranslation => {
    const { blockId } = one;
    const none = { blockId, routing: [], inputs: [], outputs: [] };
    return { ...one, connection: connections.get(blockId) ?? none };
  });
  return { problems: tree.problems, blocks, translations };
}

/** The same in a thread, where the text is not small. @throws BAD_REQUEST where it takes too long */
export const analyzeOriginal = async (text: string, signal: AbortSignal): Promise<OriginalAnalysis> =>
  text.length <= SMALL
    ? analyze(text)
    : runInThread({
        ...{ script: new URL('./analysis-worker.ts', import.meta.url), data: text, signal },
        limitMs: LIMIT_MS,
        fault: 'The configuration could not be read',
        late: `The configuration takes longer than ${LIMIT_MS / 1000} s to read; migrate it in parts`,
      });
