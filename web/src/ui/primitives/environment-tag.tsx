import { environmentHue, isProduction } from '../../app/scope.tsx';
import { Icon } from './icons.tsx';

/** An environment's name in its colour; production carries its shield everywhere. */
export const EnvironmentTag = ({ environment }: { environment: { name: string } }) => (
  <span className="env-tag" data-hue={environmentHue(environment)}>
    {isProduction(environment) ? <Icon name="shield" size={12} /> : <span className="env-dot" />}
    {environment.name}
    {isProduction(environment) && !/^production$/i.test(environment.name) ? ' · production' : ''}
  </span>
);
