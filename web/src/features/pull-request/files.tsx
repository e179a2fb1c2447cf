import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { PullRequestDiff } from '../../../../schemas/api/delivery/pull-requests.ts';
import { queries } from '../../api/queries/index.ts';
import { useHotkeys } from '../../app/hotkeys.ts';
import { useAddressParam } from '../../app/search-params.ts';
import { Hunks } from '../../ui/code/diff-hunks.tsx';
import { DiffLayout } from '../../ui/code/lazy-code.tsx';
import { EmptyState, Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import type { Tone } from '../../ui/primitives/tone.ts';
import { plural } from '../../ui/text/format.ts';
import { type ChangedFile, filesText, openedAtFirst } from './review.ts';

interface Props {
  env: string;
  number: number;
  /** That is read, of which the difference is shown. */
  head: string;
}

export const Files = ({ env, number, head }: Props) => {
  const diff = useQuery(queries.pullRequestDiff(env, number, head));
  return (
    <Loaded
      query={diff}
      what="The changed files"
      skeleton={<SkeletonBlock height={420} label="Loading the changed files" />}
    >
      {(data) =>
        data.files.length === 0 ? (
          <EmptyState icon="check" title="No file is changed">
            <p>What the branch holds is in its base already.</p>
          </EmptyState>
        ) : (
          <FileList key={data.headSha} diff={data} />
        )
      }
    </Loaded>
  );
};

const FileList = ({ diff }: { diff: PullRequestDiff }) => {
  const { files, filesTotal } = diff;
  const [wanted, setWanted] = useAddressParam('file', { replace: true });
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => openedAtFirst(files));
  const frame = useRef<HTMLDivElement>(null);
  // Keys may come faster than the page is drawn.
  const current = useRef(wanted);

  const headOf = (path: string): HTMLElement | null =>
    frame.current?.querySelectorAll<HTMLElement>('button[data-file]')[
      files.findIndex((file) => file.path === path)
    ] ?? null;
  const goTo = (path: string): void => {
    current.current = path;
    setWanted(path);
    setOpened((before) => new Set(before).add(path));
    const head = headOf(path);
    head?.focus({ preventScroll: true });
    head?.scrollIntoView({ block: 'start' });
  };
  // A link to a file leads to it; what is chosen here is there already.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the files are there.
  useEffect(() => {
    if (wanted && files.some(({ path }) => path === wanted)) goTo(wanted);
  }, []);
  const walk = (step: number): void => {
    const at = files.findIndex(({ path }) => path === current.current);
    const next = files[at < 0 ? 0 : Math.min(Math.max(at + step, 0), files.length - 1)];
    if (next) goTo(next.path);
  };
  useHotkeys({ n: () => walk(1), p: () => walk(-1) });

  const toggle = (path: string): void =>
    setOpened((before) => {
      const next = new Set(before);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  return (
    <Stack gap="md" ref={frame}>
      <Section title="Changed files" beside={<DiffLayout />}>
        <p className="files-sum muted">{filesText(diff)}</p>
        {files.length > 1 && (
          <ul className="file-list" aria-label="Changed files">
            {files.map((file) => (
              <li key={file.path}>
                <button
                  type="button"
                  className="file-jump"
                  aria-current={file.path === wanted ? 'true' : undefined}
                  onClick={() => goTo(file.path)}
                >
                  <span className="mono file-path">{file.path}</span>
                  <Lines file={file} />
                </button>
              </li>
            ))}
          </ul>
        )}
      </Section>
      {files.map((file) => (
        <FileDiff
          key={file.path}
          file={file}
          opened={opened.has(file.path)}
          toggle={() => toggle(file.path)}
        />
      ))}
      {filesTotal > files.length && (
        <p className="muted">
          {plural(filesTotal - files.length, 'file')} more: look at the branch in a clone.
        </p>
      )}
    </Stack>
  );
};

const Lines = ({ file: { additions, deletions } }: { file: ChangedFile }) => (
  <span className="file-lines mono">
    <span data-tone="ok">
      +{additions}
      <span className="sr-only"> lines added</span>
    </span>{' '}
    <span data-tone="failed">
      −{deletions}
      <span className="sr-only"> lines taken away</span>
    </span>
  </span>
);

const STATUS: Record<ChangedFile['status'], { tone: Tone; word: string }> = {
  added: { tone: 'ok', word: 'Added' },
  modified: { tone: 'moving', word: 'Changed' },
  deleted: { tone: 'failed', word: 'Deleted' },
  renamed: { tone: 'moving', word: 'Renamed' },
};

interface FileProps {
  file: ChangedFile;
  opened: boolean;
  toggle: () => void;
}

const FileDiff = ({ file, opened, toggle }: FileProps) => {
  const { path, oldPath, status, patch } = file;
  const { tone, word } = STATUS[status];
  return (
    <section className="section file" aria-label={path}>
      <h3 className="file-head">
        <button type="button" className="file-fold" data-file aria-expanded={opened} onClick={toggle}>
          <Icon name="chevronRight" size={14} />
          <span className="mono file-path">{path}</span>
          <Badge tone={tone} icon={status === 'added' ? 'plus' : status === 'deleted' ? 'dash' : undefined}>
            {word}
          </Badge>
          <Lines file={file} />
        </button>
      </h3>
      {opened && (
        <div className="file-body">
          {oldPath !== null && (
            <p className="file-note muted">
              It was <span className="mono">{oldPath}</span>.
            </p>
          )}
          {patch === null ? (
            <p className="file-note muted">
              It is no text, or too large to be shown here: look at it in a clone.
            </p>
          ) : patch === '' ? (
            <p className="file-note muted">Nothing of its text changes.</p>
          ) : (
            <Hunks diff={patch} beforeLabel={`${path} before`} afterLabel={`${path} after`} />
          )}
        </div>
      )}
    </section>
  );
};
