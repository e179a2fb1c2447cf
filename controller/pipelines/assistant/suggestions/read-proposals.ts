/** Reads what a model proposes: calls of a tool, or blocks of JSON in its text. Nonsense is dropped, with a note. Pure. */
import {
  type Proposal,
  Proposal as ProposalSchema,
} from '../../../../schemas/api/pipelines/conversations.ts';
import { checkInput } from '../../../platform/operation/check-input.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { isRecord } from '../../../platform/text/is-record.ts';
import type { ModelTool } from '../provider/model-client.ts';

export const TOOL_NAME = 'suggest_changes';

/** Some models take a schema at its word, and some endpoints know no boolean schemas. */
export const SUGGESTION_TOOL: ModelTool = {
  name: TOOL_NAME,
  description:
    'Propose changes of the pipeline that belong together. Headgate checks them; the user decides whether they are applied.',
  parameters: JSON.parse(JSON.stringify(ProposalSchema)) as Record<string, unknown>,
};

export interface ReadProposals {
  proposals: Proposal[];
  /** Why some were dropped. */
  notes: string[];
}

const MOST = 10;
const QUOTE = 160;

export function readToolCalls(calls: readonly { name: string; input: string }[]): ReadProposals {
  const read: ReadProposals = { proposals: [], notes: [] };
  for (const { name, input } of calls.slice(0, MOST)) {
    if (name !== TOOL_NAME) read.notes.push(`A call of the unknown tool "${name.slice(0, 60)}" was dropped`);
    else add(read, input, 'A suggestion');
  }
  if (calls.length > MOST) read.notes.push(`Only the first ${MOST} suggestions were read`);
  return read;
}

/** Of models without tools. Other JSON in an answer is an example for the reader, and no proposal. */
export function readBlocks(text: string): ReadProposals {
  const read: ReadProposals = { proposals: [], notes: [] };
  for (const block of jsonBlocks(text).slice(0, MOST))
    if (block.includes('"changes"')) add(read, block, 'A suggestion in the text');
  return read;
}

/** Line by line: a pattern would read the rest of a text again for each block that does not end. */
function jsonBlocks(text: string): string[] {
  const blocks: string[] = [];
  let open: string[] | null = null;
  for (const line of text.split('\n')) {
    const fence = line.trim();
    if (open === null) {
      if (fence === '```json' || fence === '```suggestion') open = [];
    } else if (fence === '```') {
      blocks.push(open.join('\n'));
      open = null;
    } else open.push(line);
  }
  return blocks;
}

function add({ proposals, notes }: ReadProposals, json: string, what: string): void {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    notes.push(`${what} was dropped: it is not JSON`);
    return;
  }
  try {
    proposals.push(checkInput({ input: ProposalSchema }, plain(value)));
  } catch (error) {
    notes.push(`${what} was dropped: ${messageOf(error).slice(0, QUOTE)}`);
  }
}

/** Models like to send a list as a text of JSON, and fields that are null where they mean none. */
function plain(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const changes = typeof value.changes === 'string' ? tryParse(value.changes) : value.changes;
  return {
    ...value,
    changes: Array.isArray(changes)
      ? changes.map((change) =>
          isRecord(change)
            ? Object.fromEntries(Object.entries(change).filter(([, item]) => item !== null))
            : change,
        )
      : changes,
  };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
