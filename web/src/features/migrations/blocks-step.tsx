import type { Migration, MigrationBlock } from '../../../../schemas/api/pipelines/migrations.ts';
import { useAddressParam } from '../../app/search-params.ts';
import { EmptyState } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { plural } from '../../ui/text/format.ts';
import { BlockDetail } from './block-detail.tsx';
import { BLOCK_LOOK, blockTitle, inWorkingOrder, linesOf, percent, stateOf } from './migration-text.ts';

interface Props {
  migration: Migration;
  mayEdit: boolean;
}

/** The blocks, those that need a user first, and one of them beside what stands for it. */
export const BlocksStep = ({ migration, mayEdit }: Props) => {
  const [chosen, choose] = useAddressParam('block');
  const blocks = inWorkingOrder(migration.blocks);
  const shown = blocks.find(({ id }) => id === chosen) ?? blocks[0];
  const open = (block: MigrationBlock): void => choose(block.id);
  return (
    <div className="migration-step">
      <Problems migration={migration} />
      {shown === undefined ? (
        <EmptyState icon="search" title="No blocks">
          <p>
            {migration.status === 'CREATED'
              ? 'Find the blocks of the configuration first.'
              : 'The text has no source, filter, match or system. Look at the problems, or bring another file.'}
          </p>
        </EmptyState>
      ) : (
        <div className="blocks">
          <nav className="block-nav" aria-label="Blocks">
            <ul>
              {blocks.map((block) => (
                <BlockItem key={block.id} block={block} isShown={block === shown} open={() => open(block)} />
              ))}
            </ul>
          </nav>
          <BlockDetail key={shown.id} migration={migration} block={shown} mayEdit={mayEdit} />
        </div>
      )}
    </div>
  );
};

const BlockItem = ({
  block,
  isShown,
  open,
}: {
  block: MigrationBlock;
  isShown: boolean;
  open: () => void;
}) => {
  const { tone, word } = BLOCK_LOOK[stateOf(block)];
  const { translation } = block;
  return (
    <li>
      <button type="button" className="block-item" aria-current={isShown || undefined} onClick={open}>
        <span className="block-name mono">{blockTitle(block)}</span>
        <span className="block-facts">
          <Badge tone={tone}>{word}</Badge>
          {block.errors.length > 0 && <Badge tone="failed">{plural(block.errors.length, 'error')}</Badge>}
          <span className="muted">
            {linesOf(block)}
            {translation && translation.status !== 'open' && `, ${percent(translation.confidence)}`}
          </span>
        </span>
      </button>
    </li>
  );
};

const Problems = ({ migration: { problems } }: { migration: Migration }) =>
  problems.length === 0 ? null : (
    <Section title={plural(problems.length, 'problem')}>
      <ul className="problems section-body" aria-label="Problems of the text">
        {problems.map(({ severity, line, column, message }) => (
          <li key={`${line} ${column} ${message}`} data-tone={severity === 'warning' ? 'held' : undefined}>
            <Badge tone={severity === 'warning' ? 'held' : 'failed'}>{severity}</Badge>
            <span>
              <span className="mono">
                {line}:{column}
              </span>{' '}
              {message}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
