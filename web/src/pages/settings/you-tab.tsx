import { useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { queries } from '../../api/queries.ts';
import { usePlace } from '../../app/environment.tsx';
import { paths } from '../../app/paths.ts';
import { usePreference, writePreference } from '../../app/preferences.ts';
import { ShortcutTable } from '../../app/shortcuts.tsx';
import { SCHEMES } from '../../app/top-bar.tsx';
import { Fact, ShortId } from '../../components/bits.tsx';
import { Section } from '../../components/page.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';
import { Tokens } from './tokens.tsx';

/** The signed-in person: account, tokens, theme, keys. */
export const YouTab = () => {
  const { team } = usePlace();
  const me = useQuery(queries.me());
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const singleKeys = usePreference('single-keys') !== 'off';
  return (
    <div className="stack">
      <Section title="Account">
        <div className="section-body">
          <Loaded query={me} what="Your account" skeleton={<SkeletonBlock height={44} />}>
            {(user) => (
              <dl className="facts">
                <Fact name="Name">{user.name}</Fact>
                <Fact name="Email">{user.email}</Fact>
                <Fact name={`Role in ${team.name}`}>
                  {user.isSuperAdmin ? `${word(team.role)}, super admin` : word(team.role)}
                </Fact>
                <Fact name="Signs in by">{user.authMethod === 'OIDC' ? 'OpenID Connect' : 'password'}</Fact>
                <Fact name="Two-factor">{user.twoFactorEnabled ? 'on' : 'off'}</Fact>
                <Fact name="Id">
                  <ShortId id={user.id} />
                </Fact>
              </dl>
            )}
          </Loaded>
        </div>
      </Section>
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

const word = (role: string): string => role.charAt(0) + role.slice(1).toLowerCase();
