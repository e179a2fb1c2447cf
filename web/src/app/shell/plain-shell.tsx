import { type ReactNode, Suspense, useState } from 'react';
import { Link } from 'react-router';
import { lazyPart } from '../../api/lazy-part.ts';
import { ToastLayer } from '../../ui/feedback/toast.tsx';
import { Logo } from '../../ui/primitives/icons.tsx';
import { useHotkeys } from '../hotkeys.ts';
import { OutageBanner } from './outage-banner.tsx';
import { LiveDot } from './top-bar.tsx';
import { UserMenu } from './user-menu.tsx';

const ShortcutsDialog = lazyPart(() => import('./shortcuts.tsx'), 'ShortcutsDialog');

/** The frame around pages of users who have no environment yet. */
export const PlainShell = ({ children }: { children: ReactNode }) => {
  const [shortcuts, setShortcuts] = useState(false);
  useHotkeys({ '?': () => setShortcuts(true) });
  return (
    <div className="plain-shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top-bar">
        <Link to="/" className="plain-brand">
          <Logo />
          Headgate
        </Link>
        <LiveDot />
        <UserMenu openShortcuts={() => setShortcuts(true)} />
      </header>
      <main id="main" tabIndex={-1}>
        <OutageBanner />
        {children}
        <ToastLayer />
      </main>
      <Suspense fallback={null}>
        {shortcuts && <ShortcutsDialog opened close={() => setShortcuts(false)} />}
      </Suspense>
    </div>
  );
};
