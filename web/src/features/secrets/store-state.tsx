import type { Environment } from '../../../../schemas/api/fleet/environments.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { useReportedMutation } from '../../ui/form/reported-mutation.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button, ButtonLink } from '../../ui/primitives/button.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { plural, sentence } from '../../ui/text/format.ts';
import { backendWord, storePlace } from './store-text.ts';

/** The store outside: whether it answers, and how old what nodes get is. Nothing where Headgate keeps the values. */
interface Props {
  environment: Environment;
  mayEdit: boolean;
}

export const StoreState = ({ environment, mayEdit }: Props) => {
  const refresh = useReportedMutation(() => Promise.resolve(), {
    run: () => api.secret.refresh.mutate({ environmentId: environment.id }),
    done: () => 'The store is looked at now.',
    failed: 'The store was not looked at',
  });
  const store = environment.secretStore;
  if (!store) return null;
  const failing = store.failing > 0 || store.error !== null;
  return (
    <Section
      title="Store"
      beside={
        <span className="button-row">
          <Button
            icon="sync"
            size="small"
            disabled={!mayEdit || refresh.isPending}
            onClick={() => refresh.mutate()}
          >
            Look now
          </Button>
          <ButtonLink to={paths.settings(environment.id, { tab: 'environment' })} size="small">
            Set up the store
          </ButtonLink>
        </span>
      }
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
              {sentence(store.error ?? '')} Nodes get the last good values meanwhile; it is tried again by
              itself.
            </span>
          </p>
        )}
      </div>
    </Section>
  );
};
