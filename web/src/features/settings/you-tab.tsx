import { Checkbox, Stack, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Link } from 'react-router';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePreference, writePreference } from '../../app/preferences/preferences.ts';
import { useAddressParam } from '../../app/search-params.ts';
import { ShortcutTable } from '../../app/shell/shortcuts.tsx';
import { SCHEMES } from '../../app/shell/user-menu.tsx';
import { Banner } from '../../ui/feedback/banner.tsx';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { Profile } from '../account/profile.tsx';
import { Sessions } from '../account/sessions.tsx';
import { SigningIn } from '../account/sign-in-methods.tsx';
import { providerProblem } from '../sign-in/provider-problems.ts';
import { Tokens } from './access/personal-tokens.tsx';

/** The signed-in person: account, ways to sign in, sessions, tokens, theme, keys. */
export const YouTab = () => {
  const me = useQuery(queries.me());
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const singleKeys = usePreference('single-keys') !== 'off';
  return (
    <Stack gap="md">
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
          <SegmentedControl label="Theme" value={colorScheme} options={SCHEMES} onChange={setColorScheme} />
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
          <Checkbox
            checked={singleKeys}
            onChange={(event) => writePreference('single-keys', event.target.checked ? 'on' : 'off')}
            label={
              <>
                Single keys such as <kbd>j</kbd> and <kbd>?</kbd> are commands
              </>
            }
          />
        </div>
        <ShortcutTable />
      </Section>
    </Stack>
  );
};

/** What came of linking an account of the identity provider: it sends the browser back with a word in the address. */
const BackFromProvider = () => {
  const [linked, setLinked] = useAddressParam('linked', { replace: true });
  const [code, setCode] = useAddressParam('problem', { replace: true });
  const notified = useRef(false); // the effect runs again when the setter changes, before the address has
  useEffect(() => {
    if (!linked || notified.current) return;
    notified.current = true;
    notify('The identity provider is linked: you can sign in by it.');
    setLinked('');
  }, [linked, setLinked]);
  const problem = providerProblem(code);
  if (!problem) return null;
  return (
    <Banner tone="failed" title={`${problem.title}.`}>
      <p>{problem.advice}</p>
      <p>
        <Button size="small" onClick={() => setCode('')}>
          Understood
        </Button>
      </p>
    </Banner>
  );
};
