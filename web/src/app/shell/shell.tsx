/** What stands around every page: rail, top bar, palette, live connection. */
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { lazyPart } from '../../api/lazy-part.ts';
import { ToastLayer } from '../../ui/feedback/toast.tsx';
import { useHotkeys } from '../hotkeys.ts';
import { useEver } from '../lazy-mount.ts';
import { paths } from '../paths.ts';
import { usePreference, writePreference } from '../preferences/preferences.ts';
import { environmentHue, usePlace } from '../scope.tsx';
import { OutageBanner } from './outage-banner.tsx';
import { Rail } from './rail.tsx';
import { TopBar } from './top-bar.tsx';

const Palette = lazyPart(() => import('./palette.tsx'), 'Palette');
const ShortcutsDialog = lazyPart(() => import('./shortcuts.tsx'), 'ShortcutsDialog');

export const Shell = ({ children }: { children: ReactNode }) => {
  const { environment } = usePlace();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const folded = usePreference('rail') === 'folded';
  const [palette, setPalette] = useState(false);
  const paletteUsed = useEver(palette);
  const [shortcuts, setShortcuts] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page starts at its top; filters do not move it.
  useEffect(() => {
    window.scrollTo(0, 0);
  }, [pathname]);

  const toggleRail = (): void => writePreference('rail', folded ? 'open' : 'folded');
  useHotkeys({
    'mod+k': () => setPalette((opened) => !opened),
    '?': () => setShortcuts(true),
    '[': toggleRail,
    'g o': () => navigate(paths.overview(environment.id)),
    'g p': () => navigate(paths.pipelines(environment.id)),
    'g l': () => navigate(paths.library(environment.id)),
    'g v': () => navigate(paths.playground(environment.id)),
    'g f': () => navigate(paths.fleet(environment.id)),
    'g g': () => navigate(paths.git(environment.id)),
    'g r': () => navigate(paths.promotions(environment.id)),
    'g a': () => navigate(paths.alerts(environment.id)),
    'g s': () => navigate(paths.secrets(environment.id)),
    'g u': () => navigate(paths.audit(environment.id)),
    'g m': () => navigate(paths.settings(environment.id, { tab: 'members' })),
    'g y': () => navigate(paths.settings(environment.id)),
  });

  return (
    <div className="shell" data-rail={folded ? 'folded' : 'open'} data-hue={environmentHue(environment)}>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <Rail folded={folded} toggle={toggleRail} />
      <TopBar openPalette={() => setPalette(true)} openShortcuts={() => setShortcuts(true)} />
      <main id="main" tabIndex={-1}>
        <OutageBanner />
        {children}
        <ToastLayer />
      </main>
      <Suspense fallback={null}>
        {paletteUsed && (
          <Palette
            opened={palette}
            close={() => setPalette(false)}
            openShortcuts={() => setShortcuts(true)}
          />
        )}
        {shortcuts && <ShortcutsDialog opened close={() => setShortcuts(false)} />}
      </Suspense>
    </div>
  );
};
