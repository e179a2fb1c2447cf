/** One block: its original beside the components that stand for it, which can be edited. */
import { Group } from '@mantine/core';
import type { Migration, MigrationBlock } from '../../../../schemas/api/pipelines/migrations.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/scope.tsx';
import { CodeField, OriginalText } from '../../ui/code/lazy-code.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { UnsavedGuard } from '../../ui/form/unsaved-guard.tsx';
import { useDraft } from '../../ui/form/use-draft.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { readComponents, renderComponents, renderSkeleton } from './block-yaml.ts';
import { useMigrationStep } from './migration-queries.ts';
import {
  BLOCK_LOOK,
  blockTitle,
  linesOf,
  NOTE_LOOK,
  ORIGIN_WORD,
  percent,
  stateOf,
} from './migration-text.ts';

interface Props {
  migration: Migration;
  block: MigrationBlock;
  mayEdit: boolean;
}

export const BlockDetail = ({ migration, block, mayEdit }: Props) => {
  const { translation } = block;
  const { tone, word } = BLOCK_LOOK[stateOf(block)];
  return (
    <Section
      title={`${block.id}: ${blockTitle(block)}`}
      beside={
        <span className="block-facts">
          <Badge tone={tone}>{word}</Badge>
          {translation && translation.status !== 'open' && (
            <span className="muted">
              {percent(translation.confidence)}, {ORIGIN_WORD[translation.origin]}
            </span>
          )}
        </span>
      }
    >
      <div className="section-body block-body">
        <Notes block={block} />
        <div className="block-sides">
          <div>
            <h3>
              Fluentd <span className="muted">{linesOf(block)}</span>
            </h3>
            <OriginalText text={block.text} label={`Original of ${block.id}`} firstLine={block.line} />
          </div>
          {translation ? (
            <Components key={block.id} migration={migration} block={block} mayEdit={mayEdit} />
          ) : (
            <div>
              <h3>Components</h3>
              <p className="muted">Translate the blocks to see what stands for this one.</p>
            </div>
          )}
        </div>
      </div>
    </Section>
  );
};

const Notes = ({ block: { translation, errors } }: { block: MigrationBlock }) => {
  const notes = translation?.notes ?? [];
  if (notes.length === 0 && errors.length === 0) return null;
  return (
    <ul className="block-notes" aria-label="Notes on the block">
      {errors.map(({ message, path }) => (
        <li key={`${path} ${message}`}>
          <Badge tone="failed">Error</Badge>
          <span>
            <CodeText text={message} />
          </span>
        </li>
      ))}
      {notes.map(({ level, message, line }) => (
        <li key={`${level} ${line} ${message}`}>
          <Badge tone={NOTE_LOOK[level].tone} icon={NOTE_LOOK[level].icon}>
            {NOTE_LOOK[level].word}
          </Badge>
          <span>
            <CodeText text={message} />
            {line !== null && <span className="muted"> (line {line})</span>}
          </span>
        </li>
      ))}
    </ul>
  );
};

/** What is typed stays while others change the block, until it is saved or translated again. */
const Components = ({ migration, block, mayEdit }: Props) => {
  const { team } = usePlace();
  const { id } = migration;
  const components = block.translation?.components ?? [];
  const isOpen = block.translation?.status === 'open';
  const before = renderComponents(components);
  const first = isOpen ? renderSkeleton(block) : before;
  const { draft, set, isChanged, reset, sending } = useDraft({ text: first });
  const { text } = draft;
  const read = readComponents(text);
  const at = { id, teamId: team.id, blockId: block.id };
  const save = useMigrationStep(
    sending((edited: typeof components) =>
      api.migration.updateBlockConfig.mutate({ ...at, config: { components: edited } }),
    ),
    { done: () => `${block.id} is saved.`, after: reset },
  );
  const translate = useMigrationStep(
    sending((by: 'rules' | 'assistant') => api.migration.retranslateBlock.mutate({ ...at, by })),
    { done: () => `${block.id} was translated again.`, after: reset },
  );
  const isPending = save.isPending || translate.isPending;
  const isLocked = !mayEdit || isPending;
  const failed = save.isError ? save.error : translate.isError ? translate.error : null;
  return (
    <div>
      <h3>Components</h3>
      <UnsavedGuard
        unsaved={mayEdit && !isPending && isChanged}
        text={`The components of ${block.id} are changed and not saved.`}
      />
      <CodeField
        label={`Components of ${block.id}`}
        language="yaml"
        value={text}
        onChange={(typed) => set({ text: typed })}
        readOnly={!mayEdit}
        problems={read.problem ? [read.problem] : []}
      />
      {isOpen && mayEdit && (
        <p className="muted">
          A beginning to go on from: it reads what came to the block, and other blocks read what it is called.
        </p>
      )}
      {read.problem && (
        <p className="block-problem" role="alert">
          Line {read.problem.line}: {read.problem.message}
        </p>
      )}
      {failed !== null && <InlineError error={failed} />}
      {mayEdit && (
        <Group gap="sm" mt="sm">
          <Button
            kind="primary"
            size="small"
            disabled={isLocked || read.components === null || read.components.length === 0 || text === before}
            onClick={() => read.components && save.mutate(read.components)}
          >
            {save.isPending ? 'Checking…' : 'Save the block'}
          </Button>
          <Button size="small" icon="sync" disabled={isLocked} onClick={() => translate.mutate('rules')}>
            Translate again by rules
          </Button>
          {migration.hasAssistant && (
            <Button
              size="small"
              icon="transform"
              disabled={isLocked}
              onClick={() => translate.mutate('assistant')}
            >
              {translate.isPending ? 'Asking…' : 'Ask the assistant'}
            </Button>
          )}
          <Button size="small" icon="cross" disabled={isLocked} onClick={() => save.mutate([])}>
            Leave out
          </Button>
        </Group>
      )}
    </div>
  );
};
