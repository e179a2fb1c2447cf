import { NavLink } from 'react-router';
import { Icon, type IconName, Logo } from '../../ui/primitives/icons.tsx';
import { paths } from '../paths.ts';
import { usePlace } from '../scope.tsx';

export const PAGES: readonly { word: string; icon: IconName; to: (env: string) => string }[] = [
  { word: 'Overview', icon: 'overview', to: paths.overview },
  { word: 'Pipelines', icon: 'pipelines', to: paths.pipelines },
  { word: 'Fleet', icon: 'fleet', to: paths.fleet },
  { word: 'Metrics', icon: 'metrics', to: (env) => paths.metrics(env) },
  { word: 'Git', icon: 'git', to: paths.git },
  { word: 'Promotions', icon: 'promotions', to: paths.promotions },
  { word: 'Library', icon: 'library', to: paths.library },
  { word: 'Playground', icon: 'playground', to: paths.playground },
  { word: 'Alerts', icon: 'alerts', to: paths.alerts },
  { word: 'Secrets', icon: 'secrets', to: paths.secrets },
  { word: 'Audit', icon: 'audit', to: (env) => paths.audit(env) },
  { word: 'Settings', icon: 'settings', to: paths.settings },
];

export const Rail = ({ folded, toggle }: { folded: boolean; toggle: () => void }) => {
  const { environment } = usePlace();
  return (
    <nav className="rail" aria-label="Pages">
      <div className="rail-brand">
        <Logo />
        <span className="rail-word">Headgate</span>
      </div>
      <ul>
        {PAGES.map(({ word, icon, to }) => (
          <li key={word} data-page={word.toLowerCase()}>
            <NavLink to={to(environment.id)} className="rail-link" data-tip={folded ? word : undefined}>
              <Icon name={icon} size={18} />
              <span className="rail-word">{word}</span>
            </NavLink>
          </li>
        ))}
      </ul>
      <button
        type="button"
        className="rail-link rail-fold"
        aria-expanded={!folded}
        onClick={toggle}
        aria-label={folded ? 'Open the rail' : 'Fold the rail'}
      >
        <Icon name={folded ? 'chevronRight' : 'chevronLeft'} size={18} />
        <span className="rail-word">Fold</span>
      </button>
    </nav>
  );
};
