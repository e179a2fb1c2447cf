/** Renders title and body of the pull request of a promotion. */
import type { PromotionRecord } from '../../controller/delivery/promotions/index.ts';
import { escaped } from '../../controller/platform/text/markdown.ts';
import type { PromotionPreflight } from '../../schemas/api/delivery/promotions.ts';
import { code } from '../plan-view/plan-markdown.ts';
import type { Draft } from './manifest-draft.ts';

const MAX_CHARACTERS = 50_000;
const MAX_ROWS = 100;
const MAX_TITLE_CHARACTERS = 200;

export interface BodyInput {
  promotion: Pick<PromotionRecord, 'pipelineName' | 'targetName' | 'sourceVersion' | 'requestedBy'>;
  sourceName: string;
  targetName: string;
  draft: Pick<Draft, 'path' | 'before' | 'fields' | 'conflicts' | 'retained' | 'notes'>;
  health: PromotionPreflight['sourceHealth'];
  missingSecrets: readonly string[];
  /** The page of the promotion. */
  url: string;
}

/** One line, cut to a length that every forge accepts. */
export const renderTitle = ({
  promotion,
  sourceName,
  targetName,
}: Pick<BodyInput, 'promotion' | 'sourceName' | 'targetName'>) =>
  `Promote ${promotion.pipelineName} from ${sourceName} to ${targetName}`
    .replace(/\s+/g, ' ')
    .slice(0, MAX_TITLE_CHARACTERS);

export function renderBody(input: BodyInput): string {
  const { promotion, sourceName, targetName, draft, health, missingSecrets, url } = input;
  const version =
    promotion.sourceVersion === null ? 'saved, without a version' : `version ${promotion.sourceVersion}`;
  const nameSuffix =
    promotion.targetName === promotion.pipelineName ? '' : ` as ${code(promotion.targetName)}`;
  const head = [
    `Brings ${code(promotion.pipelineName)} (${version}) from ${escaped(sourceName)} to ${escaped(targetName)}${nameSuffix}. Requested by ${escaped(promotion.requestedBy)}.`,
    '',
    `In ${escaped(sourceName)}: ${escaped(health.message)}${health.state === 'unhealthy' ? ' **It is not healthy there.**' : ''}`,
  ];
  const fields = draft.fields.map(({ pointer, before }) =>
    before === null ? `${code(pointer)} is new` : `${code(pointer)}`,
  );
  const parts = [
    draft.before === null
      ? ['', `A new manifest: ${code(draft.path)}`]
      : renderSection(`Changes in ${code(draft.path)}`, fields),
    renderSection(
      'Missing secrets',
      missingSecrets.map(
        (one) => `${code(one)} does not exist in ${escaped(targetName)}; create it before merging`,
      ),
    ),
    renderSection('To check', draft.notes.map(escaped)),
    renderSection(
      'Changed on both sides since the last promotion',
      draft.conflicts.map((pointer) => `${code(pointer)}: the value of ${escaped(sourceName)} is used`),
    ),
    renderSection(`Stays as ${escaped(targetName)} has it`, draft.retained.map(code)),
    ['', `Status: ${url}. The promotion is deployed once this is merged and rolled out.`],
  ];
  let text = head.join('\n');
  for (const part of parts) {
    const block = part.join('\n');
    if (part.length > 0 && text.length + block.length <= MAX_CHARACTERS) text += `\n${block}`;
  }
  return `${text}\n`;
}

function renderSection(title: string, rows: readonly string[]): string[] {
  if (rows.length === 0) return [];
  const more = rows.length > MAX_ROWS ? [`- and ${rows.length - MAX_ROWS} more`] : [];
  return ['', `#### ${title}`, '', ...rows.slice(0, MAX_ROWS).map((row) => `- ${row}`), ...more];
}
