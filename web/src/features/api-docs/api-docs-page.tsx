import { SearchInput } from '../../ui/form/search-input.tsx';
import { ButtonAnchor, ButtonLink } from '../../ui/primitives/button.tsx';
/** The HTTP interface, as the controller describes it. For everybody: it needs no session. */
import './api-docs.css';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'react-router';
import { sessionQuery } from '../../api/session.ts';
import { Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Logo } from '../../ui/primitives/icons.tsx';
import { CodeText } from '../../ui/text/code-text.tsx';
import { type ApiDocument, groupsOf, matching, readDocument } from './document.ts';
import { OperationCard } from './operation-card.tsx';

const DOCUMENT = '/api/v1/openapi.json';
/** With so few left of a search, what is inside is shown at once. */
const FEW = 2;

const anchorOf = (tag: string): string => `tag-${tag.toLowerCase().replaceAll(' ', '-')}`;

export const ApiDocsPage = () => {
  const document = useQuery({
    queryKey: ['openapi'],
    queryFn: readDocument,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const session = useQuery(sessionQuery);
  useEffect(() => {
    window.document.title = 'API · Headgate';
  }, []);
  return (
    <div className="api-docs">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="api-docs-head">
        <Link to="/" className="api-docs-brand">
          <Logo />
          Headgate
        </Link>
        <ButtonLink to="/">{session.data?.signedIn ? 'To the pages' : 'Sign in'}</ButtonLink>
      </header>
      <main id="main" tabIndex={-1}>
        <div className="api-docs-title">
          <h1>API</h1>
          <ButtonAnchor icon="link" href={DOCUMENT}>
            OpenAPI 3.1
          </ButtonAnchor>
        </div>
        <Loaded query={document} what="The API" skeleton={<SkeletonRows rows={16} label="Loading the API" />}>
          {(data) => <Described document={data} />}
        </Loaded>
      </main>
    </div>
  );
};

const Described = ({ document }: { document: ApiDocument }) => {
  const [params, setParams] = useSearchParams();
  const text = params.get('q') ?? '';
  const groups = useMemo(() => groupsOf(document), [document]);
  const found = useMemo(() => matching(groups, text), [groups, text]);
  const count = found.flatMap(({ tags }) => tags.flatMap(({ operations }) => operations)).length;
  const { isOpen, setOpen } = useOpenOperations();
  const fewLeft = text !== '' && count <= FEW;

  return (
    <>
      <p className="api-docs-intro">
        REST v1 takes the key of a service account, as <code>Authorization: Bearer svc_…</code>, and answers
        errors with <code>{'{"error": "…"}'}</code>. Procedures take the cookie of a sign-in (
        <code>curl -c jar</code>) and answer errors with <code>{'{"error": {"json": {…}}}'}</code>. Version{' '}
        {document.info.version}.
      </p>
      <SearchInput
        label="Search the API"
        placeholder="Search, for example deploy"
        value={text}
        onChange={(value) => setParams(value ? { q: value } : {}, { replace: true })}
      />
      <p role="status" className="muted api-docs-count">
        {count === 1 ? '1 operation' : `${count} operations`}
      </p>
      <div className="api-docs-columns">
        <nav aria-label="Parts of the API" className="api-docs-nav">
          {found.map((group) => (
            <div key={group.name}>
              <p className="api-docs-nav-group">{group.name}</p>
              <ul>
                {group.tags.map(({ name, operations }) => (
                  <li key={name}>
                    <a href={`#${anchorOf(name)}`}>
                      {name} <span className="muted">{operations.length}</span>
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <div className="api-docs-groups">
          {count === 0 && <p className="muted">Nothing of the API is called “{text}”.</p>}
          {found.map((group) => (
            <section key={group.name} aria-label={group.name}>
              <h2>{group.name}</h2>
              {group.tags.map(({ name, description, operations }) => (
                <section key={name} id={anchorOf(name)} className="section" aria-label={name}>
                  <header className="section-head">
                    <h3>{name}</h3>
                    <p className="muted">
                      <CodeText text={description} />
                    </p>
                  </header>
                  {operations.map((operation) => (
                    <OperationCard
                      key={operation.id}
                      document={document}
                      operation={operation}
                      open={isOpen(operation.id) ?? fewLeft}
                      setOpen={(open) => setOpen(operation.id, open)}
                    />
                  ))}
                </section>
              ))}
            </section>
          ))}
        </div>
      </div>
    </>
  );
};

/** The one that the address names is open and in sight; others as they were left. */
function useOpenOperations() {
  const { hash } = useLocation();
  const [opened, setOpened] = useState<Readonly<Record<string, boolean>>>({});
  const setOpen = (id: string, open: boolean): void => setOpened((before) => ({ ...before, [id]: open }));
  useEffect(() => {
    const id = decodeURIComponent(hash.slice(1));
    if (id === '') return;
    setOpened((before) => ({ ...before, [id]: true }));
    // After the card has opened.
    const frame = requestAnimationFrame(() => window.document.getElementById(id)?.scrollIntoView());
    return () => cancelAnimationFrame(frame);
  }, [hash]);
  return { isOpen: (id: string): boolean | undefined => opened[id], setOpen };
}
