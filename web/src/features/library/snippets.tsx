import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import type { Snippet } from '../../../../schemas/api/pipelines/snippets.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Button, IconButton } from '../../ui/primitives/button.tsx';
import { Copyable } from '../../ui/primitives/copyable.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { momentColumn } from '../../ui/table/time-column.tsx';
import { DeleteSnippetDialog } from './delete-snippet.tsx';
import { SnippetEditor } from './snippet-editor.tsx';

/** In the address, in the place of an id: one that is not kept yet. */
const NEW = 'new';

export const Snippets = () => {
  const { team } = usePlace();
  const [params, setParams] = useSearchParams();
  const snippets = useQuery(queries.snippets(team.id));
  const id = params.get('id');
  const open = (next: string | null): void =>
    setParams(next === null ? { tab: 'snippets' } : { tab: 'snippets', id: next });
  return (
    <Loaded query={snippets} what="Snippets" skeleton={<SkeletonRows rows={8} label="Loading snippets" />}>
      {(list) => {
        const chosen = list.find((snippet) => snippet.id === id) ?? null;
        if (chosen || id === NEW) {
          return (
            <SnippetEditor
              key={id}
              snippet={chosen}
              close={() => open(null)}
              made={(snippet) => open(snippet.id)}
            />
          );
        }
        return <SnippetList snippets={list} create={() => open(NEW)} />;
      }}
    </Loaded>
  );
};

const SnippetList = ({ snippets, create }: { snippets: readonly Snippet[]; create: () => void }) => {
  const { environment, team } = usePlace();
  const [deleting, setDeleting] = useState<Snippet | null>(null);
  const mayEdit = team.role !== 'VIEWER';
  const add = (
    <Button icon="plus" kind="primary" disabled={!mayEdit} onClick={create}>
      New snippet
    </Button>
  );
  if (snippets.length === 0) {
    return (
      <EmptyState icon="library" title="No snippets yet">
        <p>
          A snippet is a piece of VRL that your team keeps at hand: parse an access log, drop what is secret,
          bring levels into one form. The playground inserts it, and a click copies it.
        </p>
        {add}
      </EmptyState>
    );
  }
  const columns: Column<Snippet>[] = [
    { key: 'name', title: 'Name', width: '20%', sort: (row) => row.name, cell: (row) => row.name },
    {
      key: 'category',
      title: 'Category',
      width: '130px',
      sort: (row) => row.category,
      cell: (row) => row.category,
    },
    {
      key: 'description',
      title: 'What it does',
      priority: 2,
      cell: (row) => <span data-tip={row.description ?? undefined}>{row.description}</span>,
    },
    {
      key: 'code',
      title: 'Code',
      width: '24%',
      priority: 2,
      cell: (row) => (
        <Copyable value={row.code} label={`the code of ${row.name}`}>
          {firstLine(row.code)}
        </Copyable>
      ),
    },
    {
      key: 'by',
      title: 'By',
      width: '120px',
      priority: 3,
      sort: (row) => row.createdByName,
      cell: (row) => row.createdByName ?? <span className="muted">unknown</span>,
    },
    momentColumn({
      key: 'updated',
      title: 'Updated',
      width: '98px',
      priority: 3,
      at: (row) => row.updatedAt,
    }),
    {
      key: 'actions',
      title: 'Actions',
      width: '84px',
      align: 'end',
      cell: (row) => (
        <IconButton
          icon="trash"
          label={`Delete ${row.name}`}
          tip="Delete"
          disabled={!mayEdit}
          onClick={() => setDeleting(row)}
        />
      ),
    },
  ];
  return (
    <>
      <DataTable
        caption="Snippets"
        noun="snippet"
        rows={snippets}
        columns={columns}
        rowKey={(row) => row.id}
        rowHref={(row) => paths.library(environment.id, { tab: 'snippets', id: row.id })}
        filterText={(row) => `${row.name} ${row.category} ${row.description ?? ''} ${row.code}`}
        defaultSort="category"
        toolbar={add}
      />
      <DeleteSnippetDialog snippet={deleting} close={() => setDeleting(null)} />
    </>
  );
};

/** Comments say little about code. */
const firstLine = (code: string): string =>
  code.split('\n').find((line) => line.trim() !== '' && !line.trim().startsWith('#')) ?? code.slice(0, 80);
