import { Component, type ReactNode } from 'react';
import { ErrorState } from '../ui/primitives/page-states.tsx';

interface State {
  error: unknown;
}

/** A page that breaks must leave the rail and the top bar standing. */
export class Boundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <ErrorState error={this.state.error} retry={() => this.setState({ error: null })} what="This page" />
    );
  }
}
