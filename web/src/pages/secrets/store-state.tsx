import { Link } from 'react-router';
import type { Environment } from '../../../../schemas/api/environments.ts';
import { paths } from '../../app/paths.ts';
import { Badge, Fact, Time } from '../../components/bits.tsx';
import { plural, sentence } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { Section } from '../../components/page.tsx';
import { backendWord, storePlace } from './store-words.ts';

/** The store outside: whether it answers, and how old what nodes get is. Nothing where Headgate keeps the values. */
export const StoreState = ({ environment }: { environment: Environment }) => {
  const store = environment.secretStore;
  if (!store) return null;
  const failing = store.failing > 0 || store.error !== null;
  return (
    <Section
      title="Store"
      beside={<Link to={paths.settings(environment.id, { tab: 'environment' })}>Set up the store</Link>}
    >
      <div className="section-body stack">
        <dl className="facts">
          <Fact name="Kept in">{backendWord(environment.secretBackend)}</Fact>
          <Fact name="Place">
            <span className="mono fact-wrap">{storePlace(store) || 'not known'}</span>
          </Fact>
          <Fact name="State">
            {failing ? <Badge tone="failed">Failing</Badge> : <Badge tone="ok">Answers</Badge>}
          </Fact>
          <Fact name="Oldest value fetched">
            {store.fetchedAt ? <Time at={store.fetchedAt} /> : <span className="muted">not yet</span>}
          </Fact>
        </dl>
        {failing && (
          <p className="inline-error" role="alert">
            <Icon name="warning" size={14} />
            <span className="breakable">
              {store.failing > 0 && `${plural(store.failing, 'secret')} could not be fetched. `}
              {sentence(store.error ?? '')} Nodes get the last good values meanwhile; it is tried again every
              minute.
            </span>
          </p>
        )}
      </div>
    </Section>
  );
};
