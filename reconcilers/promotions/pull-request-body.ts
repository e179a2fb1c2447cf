/** What people read on the pull request of a promotion. */
import type { PromotionRecord } from '../../controller/delivery/promotions/index.ts';
import { escaped } from '../../controller/platform/text/markdown.ts';
import type { PromotionPreflight } from '../../schemas/api/promotions.ts';
import { code } from '../plan-view/plan-markdown.ts';
import type { Draft } from './draft.ts';

const MOST_CHARACTERS = 50_000;
const MOST_ROWS = 100;
const TITLE = 200;

export interface BodyOf {
  promotion: Pick<PromotionRecord, 'pipelineName' | 'targetName' | 'sourceVersion' | 'requestedBy'>;
  sourceName: string;
  targetName: string;
  draft: Pick<Draft, 'path' | 'before' | 'fields' | 'conflicts' | 'kept' | 'notes'>;
  health: PromotionPreflight['sourceHealth'];
  missingSecrets: readonly string[];
  /** Where it is followed. */
  url: string;
}

/** One line; names cannot hold line breaks, and what is longer than a forge takes is cut. */
export const titleFor = ({
  promotion,
  sourceName,
  targetName,
}: Pick<BodyOf, 'promotion' | 'sourceName' | 'targetName'>) =>
  `Promote ${promotion.pipelineName} from ${sourceName} to ${targetName}`
    .replace(/\s+/g, ' ')
    .slice(0, TITLE);

export function bodyFor(of: BodyOf): string {
  const { promotion, sourceName, targetName, draft, health, missingSecrets, url } = of;
  const version = promotion.sourceVersion === null ? 'as it is saved' : `version ${promotion.sourceVersion}`;
  const called = promotion.targetName === promotion.pipelineName ? '' : ` as ${code(promotion.targetName)}`;
  const head = [
    `Brings ${code(promotion.pipelineName)} (${version}) from ${escaped(sourceName)} to ${escaped(targetName)}${called}. Asked for by ${escaped(promotion.requestedBy)}.`,
    '',
    `In ${escaped(sourceName)}: ${escaped(health.message)}${health.state === 'unhealthy' ? ' **It is not healthy there.**' : ''}`,
  ];
  const fields = draft.fields.map(({ pointer, before }) =>
    before === null ? `${code(pointer)} is new` : `${code(pointer)}`,
  );
  const parts = [
    draft.before === null
      ? ['', `A new manifest: ${code(draft.path)}`]
      : section(`Changes in ${code(draft.path)}`, fields),
    section(
      'Missing secrets',
      missingSecrets.map(
        (one) => `${code(one)} does not exist in ${escaped(targetName)}; create it before merging`,
      ),
    ),
    section('To check', draft.notes.map(escaped)),
    section(
      'Changed on both sides since the last promotion',
      draft.conflicts.map((pointer) => `${code(pointer)}: the value of ${escaped(sourceName)} goes in`),
    ),
    section(`Stays as ${escaped(targetName)} has it`, draft.kept.map(code)),
    ['', `Followed at ${url}. It is deployed once this is merged and rolled out.`],
  ];
  let text = head.join('\n');
  for (const part of parts) {
    const block = part.join('\n');
    if (part.length > 0 && text.length + block.length <= MOST_CHARACTERS) text += `\n${block}`;
  }
  return `${text}\n`;
}

function section(title: string, rows: readonly string[]): string[] {
  if (rows.length === 0) return [];
  const more = rows.length > MOST_ROWS ? [`- and ${rows.length - MOST_ROWS} more`] : [];
  return ['', `#### ${title}`, '', ...rows.slice(0, MOST_ROWS).map((row) => `- ${row}`), ...more];
}
