import { useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { queries } from '../../api/queries.ts';
import { useAddressParam } from '../../app/address.ts';
import { paths } from '../../app/paths.ts';
import { usePreference, writePreference } from '../../app/preferences.ts';
import { ShortcutTable } from '../../app/shortcuts.tsx';
import { SCHEMES } from '../../app/user-menu.tsx';
import { Banner } from '../../components/banner.tsx';
import { Section } from '../../components/page.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';
import { notify } from '../../components/toasts.tsx';
import { Profile } from '../account/profile.tsx';
import { providerProblem } from '../account/provider-problems.ts';
import { Sessions } from '../account/sessions.tsx';
import { SigningIn } from '../account/signing-in.tsx';
import { Tokens } from './tokens.tsx';

/** The signed-in person: account, ways to sign in, sessions, tokens, theme, keys. */
export const YouTab = () => {
  const me = useQuery(queries.me());
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const singleKeys = usePreference('single-keys') !== 'off';
  return (
    <div className="stack">
      <BackFromProvider />
      <Section title="Account">
        <Loaded query={me} what="Your account" skeleton={<SkeletonBlock height={210} />}>
          {(person) => <Profile me={person} />}
        </Loaded>
      </Section>
      <Section title="Signing in">
        <Loaded query={me} what="How you sign in" skeleton={<SkeletonBlock height={104} />}>
          {(person) => <SigningIn me={person} />}
        </Loaded>
      </Section>
      <Sessions />
      <Tokens />
      <Section title="Theme">
        <div className="section-body form">
          <Segmented label="Theme" value={colorScheme} options={SCHEMES} onChange={setColorScheme} />
          <p className="muted">
            The theme, the folded rail, hidden columns and the like follow you to other browsers.
          </p>
        </div>
      </Section>
      <Section title="API">
        <div className="section-body">
          <p>
            Everything that these pages do can be done by a program: see the{' '}
            <Link to={paths.apiDocs()}>API reference</Link>.
          </p>
        </div>
      </Section>
      <Section title="Keyboard">
        <div className="section-body">
          <label className="check">
            <input
              type="checkbox"
              checked={singleKeys}
              onChange={(event) => writePreference('single-keys', event.target.checked ? 'on' : 'off')}
            />
            <span>
              Single keys such as <kbd>j</kbd> and <kbd>?</kbd> are commands
            </span>
          </label>
        </div>
        <ShortcutTable />
      </Section>
    </div>
  );
};

/** What came of linking an account of the identity provider: it sends the browser back with a word in the address. */
const BackFromProvider = () => {
  const [linked, setLinked] = useAddressParam('linked', { replace: true });
  const [code, setCode] = useAddressParam('problem', { replace: true });
  useEffect(() => {
    if (!linked) return;
    notify('The identity provider is linked: you can sign in by it.');
    setLinked('');
  }, [linked, setLinked]);
  const problem = providerProblem(code);
  if (!problem) return null;
  return (
    <Banner tone="failed" title={`${problem.title}.`}>
      <p>{problem.advice}</p>
      <p>
        <button type="button" className="button" data-size="small" onClick={() => setCode('')}>
          Understood
        </button>
      </p>
    </Banner>
  );
};
