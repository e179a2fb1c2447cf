import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { type LibraryTab, paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { ButtonLink } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { PageTabs } from '../../ui/primitives/page-tabs.tsx';
import { SharedComponents } from './shared-components.tsx';
import { Snippets } from './snippets.tsx';
import { Templates } from './templates.tsx';

const TABS: readonly { value: LibraryTab; word: string; render: () => ReactNode }[] = [
  { value: 'templates', word: 'Templates', render: () => <Templates /> },
  { value: 'snippets', word: 'Snippets', render: () => <Snippets /> },
  { value: 'shared', word: 'Shared components', render: () => <SharedComponents /> },
];

/** What pipelines are begun with and built of. In the address: the tab, and what of it is open. */
export const LibraryPage = () => {
  const { environment } = usePlace();
  const [params, setParams] = useSearchParams();
  const tab = TABS.find(({ value }) => value === params.get('tab'))?.value ?? 'templates';
  return (
    <Page
      title="Library"
      actions={
        <ButtonLink icon="playground" to={paths.playground(environment.id)}>
          Playground
        </ButtonLink>
      }
    >
      <PageTabs
        label="Parts of the library"
        value={tab}
        onChange={(value) => setParams(value === 'templates' ? {} : { tab: value })}
        tabs={TABS}
      />
    </Page>
  );
};
